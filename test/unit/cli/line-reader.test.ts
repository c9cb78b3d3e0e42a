import { describe, expect, it } from 'vitest';
import { LineReader } from '../../../src/host/cli/line-reader.ts';

function reading(maxBytes = 10): { reader: LineReader; lines: string[]; heads: string[] } {
  const lines: string[] = [];
  const heads: string[] = [];
  const reader = new LineReader(maxBytes, { line: (text) => lines.push(text), tooLong: (head) => heads.push(head) });
  return { reader, lines, heads };
}

describe('LineReader', () => {
  it('gives the same lines however the bytes are cut', () => {
    const bytes = Buffer.from('één\ntwo\r\n\n  \nthree');
    for (let size = 1; size <= bytes.length; size++) {
      const { reader, lines } = reading();
      for (let from = 0; from < bytes.length; from += size) reader.push(bytes.subarray(from, from + size));
      reader.end();
      expect(lines).toEqual(['één', 'two\r', 'three']);
    }
  });

  it('gives up a line over the cap once, as soon as it is over, and reads the next one', () => {
    const { reader, lines, heads } = reading();
    reader.push(Buffer.from('12345'));
    reader.push(Buffer.from('678901'));
    expect(heads).toEqual(['12345678901']);
    reader.push(Buffer.from('234567890123'));
    reader.push(Buffer.from('4\nok\n1234567890\n'));
    expect(heads).toHaveLength(1);
    expect(lines).toEqual(['ok', '1234567890']);
  });

  it('gives at most 4 KiB as the head, also of a line that comes in one piece', () => {
    const { reader, heads } = reading(8192);
    reader.push(Buffer.alloc(20_000, 'x'));
    expect(heads.map(({ length }) => length)).toEqual([4096]);
  });
});
