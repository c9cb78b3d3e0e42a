import { expect, test } from 'vitest';
import { fitResult } from '../../../src/worker/sandbox/result-fit.ts';

const text = (value: string) => ({ type: 'text', text: value });

test('a result within its bytes is as it was', () => {
  const result = { content: [text('a')], structuredContent: { b: 1 }, details: { c: 2 }, isError: true };
  expect(fitResult(result, 1000)).toEqual(result);
});

test('text is cut with a note, and what comes after it is left out', () => {
  const fitted = fitResult({ content: [text('x'.repeat(100)), text('y'), text('z')], structuredContent: { a: 1 } }, 80);
  expect(fitted).toEqual({
    content: [text(`${'x'.repeat(80)}\n[cut: the result is larger than 80 bytes]`)],
    structuredContent: '[structuredContent omitted: the result is larger than 80 bytes]',
  });
});

test('an image that does not fit is one note, however many follow', () => {
  const image = { type: 'image', data: 'A'.repeat(200), mimeType: 'image/png' };
  const fitted = fitResult({ content: [text('a'), image, image, image] }, 100);
  expect(fitted).toEqual({ content: [text('a'), text('[content omitted: the result is larger than 100 bytes]')] });
});

test('a character is never cut in half', () => {
  expect(fitResult('€€€', 4)).toBe('€\n[cut: the result is larger than 4 bytes]');
});

test('what is no result is handed on', () => {
  expect(fitResult(undefined, 10)).toBeUndefined();
  expect(fitResult({ a: 1 }, 10)).toEqual({ a: 1 });
});
