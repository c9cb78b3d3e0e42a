import { describe, expect, it } from 'vitest';
import { JsoncDocument } from '../../../src/host/jsonc-document.ts';

describe('JsoncDocument', () => {
  it('reads comments, trailing commas and a byte order mark', () => {
    expect(new JsoncDocument('\uFEFF// one\n{ /* two */ "a": [1, 2,], }').value).toEqual({ a: [1, 2] });
  });

  it('keeps an own __proto__ as data', () => {
    const { value } = new JsoncDocument('{ "__proto__": { "x": 1 } }');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"x":1}}');
  });

  it('says where the text is no JSON, and then has no value', () => {
    const document = new JsoncDocument('{\n  "a": 1\n  "b": 2\n}');
    expect(document.value).toBeUndefined();
    expect(document.problems).toEqual([{ line: 3, text: 'this is no JSON: comma expected' }]);
    expect(new JsoncDocument('').problems).toHaveLength(1);
  });

  it('finds the key that stands twice in one object, and only that', () => {
    const { problems } = new JsoncDocument('{ "a": { "x": 1 },\n "b": { "x": 1,\n "x": 2 } }');
    expect(problems).toEqual([{ line: 3, text: 'the key "x" stands here twice' }]);
  });

  it('knows the line of each value, or of the nearest one around it', () => {
    const document = new JsoncDocument('{\n "a":\n  [\n   1,\n   { "k": 2 }\n ]\n}');
    expect(document.lineOf(['a', 1, 'k'])).toBe(5);
    expect(document.lineOf(['a', 0])).toBe(4);
    expect(document.lineOf(['a', 1, 'missing', 'deeper'])).toBe(5);
    expect(document.lineOf(['a'])).toBe(2);
    expect(document.lineOf([])).toBe(1);
  });
});
