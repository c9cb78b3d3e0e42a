import { describe, expect, it } from 'vitest';
import { nearestName } from '../../../src/shared/nearest-name.ts';
import { printable } from '../../../src/shared/printable.ts';

describe('printable text', () => {
  it('escapes what drives a terminal, forges lines or turns text around', () => {
    expect(printable('a\u001b[31mb\u0000c\u009bd\u007fe\r')).toBe('a\\u{1b}[31mb\\u{0}c\\u{9b}d\\u{7f}e\\u{d}');
    for (const unit of [0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069]) {
      expect(printable(`x${String.fromCharCode(unit)}y`)).toBe(`x\\u{${unit.toString(16)}}y`);
    }
  });

  it('keeps tabs, and newlines when asked to', () => {
    expect(printable('a\tb\nc')).toBe('a\tb\\u{a}c');
    expect(printable('a\tb\nc\r\n', { keepNewlines: true })).toBe('a\tb\nc\\u{d}\n');
  });

  it('leaves other text alone', () => {
    const text = 'größe 查询 🚀 $& \\u{1b} «»\u00a0\u200b\u{e0041}\ud800';
    expect(printable(text)).toBe(text);
  });

  it('leaves no control character whatever', () => {
    const all = Array.from({ length: 0x2100 }, (_, i) => String.fromCharCode(i)).join('');
    const left = printable(all, { keepNewlines: true });
    expect(left.match(/\p{Cc}/gu)).toEqual(['\t', '\n']);
    expect(left.match(/\p{Bidi_Control}|\p{Zl}|\p{Zp}/gu)).toBeNull();
    expect(printable(left, { keepNewlines: true })).toBe(left);
  });
});

describe('the nearest name', () => {
  it('is the one that holds what was written, else the one with the fewest edits', () => {
    const known = ['command', 'args', 'toolPrefix', 'callTimeoutSeconds', 'startupTimeoutSeconds'];
    expect(nearestName('comand', known)).toBe('command');
    expect(nearestName('TIMEOUT', known)).toBe('callTimeoutSeconds');
    expect(nearestName('arguments', known)).toBe('args');
    expect(nearestName('prefix', known)).toBe('toolPrefix');
    expect(nearestName('x', [])).toBeUndefined();
    expect(nearestName('y'.repeat(100_000), known)).toBeDefined();
  });
});
