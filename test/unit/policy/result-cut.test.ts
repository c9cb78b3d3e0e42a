import { describe, expect, test } from 'vitest';
import { Redactor } from '../../../src/host/policy/redactor.ts';
import { cutResult } from '../../../src/host/policy/result-cut.ts';
import { DEFAULT_LIMITS } from '../../../src/shared/limits.ts';
import type { Content } from '../../../src/shared/tool.ts';
import { gateResult } from '../../../src/worker/result/result-gate.ts';
import { newPem, newSecret } from './made-up-secrets.ts';

const text = (value: string): Content => ({ type: 'text', text: value });
const image: Content = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' };
const none = new Redactor();

interface Room {
  readonly textLines?: number;
  readonly textBytes?: number;
}

/** The cut on the host alone: nothing was cut before. */
function cut(content: readonly Content[], room: Room, redactor = none) {
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const lines = texts.reduce((sum, one) => sum + one.split('\n').length, 0);
  const bytes = texts.reduce((sum, one) => sum + Buffer.byteLength(one), 0);
  return cutResult({ content, text: { lines, bytes } }, redactor, { ...DEFAULT_LIMITS, ...room });
}

/** The whole way of a text: through the thread's cut, the wire and the host's. */
function through(whole: string, redactor: Redactor, room: Room = {}, overlapBytes = redactor.overlapBytes) {
  const limits = { ...DEFAULT_LIMITS, ...room };
  const wire = structuredClone(gateResult('tool', whole, { limits, overlapBytes }));
  const { content, truncated } = cutResult(wire, redactor, limits);
  return { text: content.map((block) => (block.type === 'text' ? block.text : '')).join('\n'), truncated };
}

describe('a text within the limits', () => {
  test('stays as it is, without a note', () => {
    const content = [text('a\nb'), image, text('c')];
    expect(cut(content, { textLines: 3, textBytes: 4 })).toEqual({ content, truncated: false });
  });

  test('is still redacted', () => {
    const secret = newSecret();
    expect(cut([text(`<${secret}>`)], {}, new Redactor([secret]))).toEqual({
      content: [text('<[REDACTED]>')],
      truncated: false,
    });
  });
});

describe('a text over the limits', () => {
  test('keeps its first lines and says how much there was', () => {
    expect(cut([text('one\ntwo\nthree\nfour')], { textLines: 2 })).toEqual({
      content: [text('one\ntwo\n[Output truncated: showing 2 of 4 lines (7B of 18B)]')],
      truncated: true,
    });
  });

  test('keeps its first bytes and says sizes that people read', () => {
    const { content } = cut([text('q'.repeat(1_300_000))], {});
    expect(content).toEqual([
      text(`${'q'.repeat(51_200)}\n[Output truncated: showing 1 of 1 lines (50.0KB of 1.2MB)]`),
    ]);
  });

  test('is cut on a character, whatever its width', () => {
    for (const char of ['ü', '€', '🚀']) {
      for (let room = 8; room < 16; room++) {
        const { content } = cut([text(`a${char.repeat(20)}`)], { textBytes: room });
        const head = (content[0]?.type === 'text' ? content[0].text : '').split('\n')[0] ?? '';
        expect(head).toMatch(new RegExp(`^a(${char})*$`, 'u'));
        expect(head).not.toContain('\ufffd');
        expect(Buffer.byteLength(head)).toBeLessThanOrEqual(room);
        expect(Buffer.byteLength(head + char)).toBeGreaterThan(room);
      }
    }
  });

  test('keeps the order of blocks, images after the cut too, and has one note as its last line', () => {
    const { content } = cut([text('a\nb'), image, text('c\nd\ne'), image, text('f'), image], { textLines: 3 });
    expect(content).toEqual([
      text('a\nb'),
      image,
      text('c\n[Output truncated: showing 3 of 6 lines (4B of 9B)]'),
      image,
      image,
    ]);
  });

  test('has the note in place of the first block that has no room at all', () => {
    const { content } = cut([text('abcd'), image, text('efgh'), text('ijkl')], { textBytes: 4 });
    expect(content).toEqual([text('abcd'), image, text('[Output truncated: showing 1 of 3 lines (4B of 12B)]')]);
  });

  test('is cut when only redaction made it too long', () => {
    const { content, truncated } = cut([text('secret secret')], { textBytes: 13 }, new Redactor(['secret']));
    expect(content).toEqual([text('[REDACTED] [R\n[Output truncated: showing 1 of 1 lines (13B of 21B)]')]);
    expect(truncated).toBe(true);
  });
});

describe('a text that the thread has cut', () => {
  test('tells the totals from before that cut', () => {
    const whole = Array.from({ length: 60_000 }, (_, i) => `row ${i} ${'d'.repeat(40)}`).join('\n');
    const result = through(whole, new Redactor([newSecret()]));
    expect(result.truncated).toBe(true);
    expect(result.text).toMatch(/^row 0 d+\nrow 1 d+\n/);
    expect(result.text).toMatch(/\n\[Output truncated: showing \d+ of 60000 lines \(50\.0KB of 2\.\dMB\)\]$/);
    expect(result.text.match(/Output truncated/g)).toHaveLength(1);
  });

  test('has a note also when all that came fits', () => {
    const wire = { content: [text('abc'), image], text: { lines: 1, bytes: 99 } };
    const { content, truncated } = cutResult(wire, none, { textLines: 10, textBytes: 50 });
    expect(content).toEqual([text('abc\n[Output truncated: showing 1 of 1 lines (3B of 99B)]'), image]);
    expect(truncated).toBe(true);
  });
});

describe('a secret on the edge leaves no head behind', () => {
  test('at every place before the byte limit', () => {
    const secret = newSecret('headOfTheSecretIsLong');
    const redactor = new Redactor([secret]);
    for (let before = 0; before <= secret.length; before++) {
      const { text: shown } = through('x'.repeat(51_200 - before) + secret + 'y'.repeat(40_000), redactor);
      expect(shown).toContain('Output truncated');
      expect(shown).not.toContain(secret.slice(0, 2));
    }
  });

  test('at every place before the line limit', () => {
    const secret = newSecret('headOfTheSecretIsLong');
    const redactor = new Redactor([secret]);
    for (let at = 1; at < secret.length; at++) {
      const split = `${secret.slice(0, at)}\n${secret.slice(at)}`;
      const { text: shown } = through(`${'line\n'.repeat(1999)}${split}\n${'line\n'.repeat(1999)}`, redactor);
      expect(shown).toMatch(/^(line\n){1999}\[REDACTED\]\n\[Output truncated: showing 2000 of 4001 lines /);
    }
  });

  test('when other redactions have pulled the end of what came in front of the limit', () => {
    // The thread keeps the head of the last secret; so many others shrink that it comes to lie within the limit.
    const other = newSecret('aVeryLongSecretThatShrinks');
    const secret = newSecret('headOfTheSecretIsLong');
    const redactor = new Redactor([other, secret]);
    const overlap = redactor.longestBytes;
    for (let kept = 1; kept < secret.length; kept++) {
      const fill = 51_200 + overlap - kept - (other.length + 1) * 100;
      const whole = `${`${other} `.repeat(100)}${'x'.repeat(fill)}${secret}${'y'.repeat(40_000)}`;
      const { text: shown } = through(whole, redactor, {}, overlap);
      expect(shown).toMatch(/x\n\[Output truncated/);
    }
  });

  test('when the secret was learnt after the thread was told its overlap', () => {
    const pem = newPem(60);
    const redactor = new Redactor([newSecret()]);
    const told = redactor.longestBytes;
    redactor.add([pem]);
    const inOneLine = encodeURIComponent(pem);
    for (const kept of [1, 20, 200, 1000]) {
      const { text: shown } = through(
        'x'.repeat(51_200 + told - kept) + inOneLine + 'y'.repeat(40_000),
        redactor,
        {},
        told,
      );
      expect(shown).toMatch(/^x+\n\[Output truncated/);
    }
  });
});
