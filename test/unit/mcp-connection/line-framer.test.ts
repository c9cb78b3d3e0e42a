import { describe, expect, test } from 'vitest';
import { KEPT_BYTES, LineFramer, type LongLine } from '../../../src/worker/mcp/connection/process/line-framer.ts';

function frame(capBytes: number) {
  const lines: string[] = [];
  const long: LongLine[] = [];
  const floods: number[] = [];
  const framer = new LineFramer(capBytes, {
    line: (text) => lines.push(text),
    tooLong: (line) => long.push(line),
    flooded: (bytes) => floods.push(bytes),
  });
  return { framer, lines, long, floods };
}

/** Every way to cut a short text into two, and byte by byte. */
function* cuts(bytes: Buffer): Generator<Buffer[]> {
  yield [...bytes].map((byte) => Buffer.from([byte]));
  for (let at = 0; at <= bytes.length; at += 1) yield [bytes.subarray(0, at), bytes.subarray(at)];
}

describe('line framer', () => {
  test('lines are the same however the bytes are cut', () => {
    const text = 'one\r\n\ntwo — é 你好 🚀\n\r\nthree\n';
    for (const chunks of cuts(Buffer.from(text))) {
      const { framer, lines } = frame(1000);
      for (const chunk of chunks) framer.push(chunk);
      expect(lines).toEqual(['one', '', 'two — é 你好 🚀', '', 'three']);
    }
  });

  test('a byte order mark in front of a line is dropped', () => {
    const { framer, lines } = frame(1000);
    framer.push(Buffer.from('\uFEFF{}\n'));
    expect(lines).toEqual(['{}']);
  });

  test('a last line without a newline is handed out once, at the end', () => {
    const { framer, lines } = frame(1000);
    framer.push(Buffer.from('a\nb'));
    expect(framer.unfinished).toBe('b');
    framer.end();
    framer.end();
    framer.push(Buffer.from('c\n'));
    expect(lines).toEqual(['a', 'b']);
  });

  test('a line of exactly the cap passes, one byte more is reported with both its ends', () => {
    const cap = 3 * KEPT_BYTES;
    const fits = 'x'.repeat(cap);
    const over = `${'h'.repeat(KEPT_BYTES)}${'m'.repeat(KEPT_BYTES + 1)}${'t'.repeat(KEPT_BYTES)}`;
    for (const size of [1, 7, 4096, 100_000]) {
      const { framer, lines, long } = frame(cap);
      const bytes = Buffer.from(`${fits}\n${over}\nafter\n`);
      for (let at = 0; at < bytes.length; at += size) framer.push(bytes.subarray(at, at + size));
      expect(lines).toEqual([fits, 'after']);
      expect(long).toEqual([{ head: 'h'.repeat(KEPT_BYTES), tail: 't'.repeat(KEPT_BYTES), bytes: cap + 1 }]);
    }
  });

  test('without a newline within two caps it is a flood, and nothing is read after it', () => {
    const { framer, lines, long, floods } = frame(100);
    framer.push(Buffer.from(`ok\n${'z'.repeat(150)}`));
    expect(floods).toEqual([]);
    framer.push(Buffer.from('z'.repeat(51)));
    framer.push(Buffer.from('\nmore\n'));
    framer.end();
    expect({ lines, long, floods }).toEqual({ lines: ['ok'], long: [], floods: [201] });
  });

  test('a long line is no flood for who does not ask', () => {
    const lines: string[] = [];
    const framer = new LineFramer(10, {
      line: (text) => lines.push(text),
      tooLong: ({ bytes }) => lines.push(`${bytes}`),
    });
    framer.push(Buffer.from(`${'z'.repeat(500)}\nafter\n`));
    expect(lines).toEqual(['500', 'after']);
  });

  test('a line in single bytes costs as much as in one piece, give or take', () => {
    const bytes = Buffer.from(`${'y'.repeat(1_000_000)}\n`);
    const { framer, lines } = frame(2_000_000);
    const startedAt = performance.now();
    for (let at = 0; at < bytes.length; at += 1) framer.push(bytes.subarray(at, at + 1));
    expect(lines[0]).toHaveLength(1_000_000);
    // A quadratic reader would need a minute and more.
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });
});
