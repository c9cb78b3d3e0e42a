import { expect, test } from 'vitest';
import { checkArguments } from '../../../src/host/argument-check.ts';
import type { JsonObject } from '../../../src/shared/json.ts';

const object = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
});

// MCP-54
test.each([
  ['string', 'x', 1],
  ['number', 1.5, '1.5'],
  ['integer', 2, 2.5],
  ['boolean', false, 'false'],
  ['null', null, 0],
  ['array', [], {}],
  ['object', {}, []],
] as const)('%s is checked and never coerced', (type, good, bad) => {
  const schema = object({ value: { type } });
  expect(checkArguments(schema, { value: good })).toBeUndefined();
  expect(checkArguments(schema, { value: bad as never })).toMatch(new RegExp(`"value" must be ${type}`));
});

test('one of several types is enough', () => {
  const schema = object({ value: { type: ['string', 'null'] } });
  expect(checkArguments(schema, { value: null })).toBeUndefined();
  expect(checkArguments(schema, { value: 1 })).toBe('"value" must be string or null, not number');
});

test('every problem is named', () => {
  const schema = object({ a: { type: 'string' }, b: { type: 'number' } }, ['a', 'c']);
  expect(checkArguments(schema, { b: 'x' })).toBe('"a" is required; "c" is required; "b" must be number, not string');
});

test('what the check does not know is left to the tool', () => {
  const schema = object({ a: { type: 'no-such-type' }, b: { anyOf: [{ type: 'string' }] }, c: true });
  expect(checkArguments(schema, { a: 1, b: 2, c: 3, other: 4 })).toBeUndefined();
  expect(checkArguments({ type: 'object', required: 'oops', properties: [] } as never, { a: 1 })).toBeUndefined();
});

test('names of the prototype are names like others', () => {
  expect(checkArguments(object({}, ['toString']), {})).toBe('"toString" is required');
  expect(checkArguments(object({}), JSON.parse('{"__proto__":1,"constructor":2}') as JsonObject)).toBeUndefined();
});

test('what has a default may be missing although it is required', () => {
  const schema = object({ scale: { type: 'string', default: 'css' }, path: { type: 'string' } }, ['scale', 'path']);
  expect(checkArguments(schema, { path: 'x' })).toBeUndefined();
  expect(checkArguments(schema, {})).toBe('"path" is required');
});
