import { describe, expect, it } from 'vitest';
import { Redactor } from '../../../src/host/policy/redactor.ts';
import { cutText } from '../../../src/host/policy/text-cut.ts';
import { cutWithOverlap } from '../../../src/shared/text-caps.ts';

const SECRET = 'hunter2-is-the-password';
const redactor = new Redactor([SECRET]);
const MAX = 100;

/** As a thread cuts it, then the host. */
const crossing = (text: string) => cutText(cutWithOverlap(text, MAX, redactor.overlapBytes), MAX, redactor);

describe('a text beside results', () => {
  it('stays as it is below its cap', () => {
    expect(crossing('short')).toBe('short');
    expect(crossing('x'.repeat(MAX))).toBe('x'.repeat(MAX));
  });

  it('is cut at its cap, on a character', () => {
    expect(crossing('x'.repeat(MAX + 1))).toBe(`${'x'.repeat(MAX)}…`);
    expect(crossing(`${'x'.repeat(MAX - 1)}🚀y`)).toBe(`${'x'.repeat(MAX - 1)}…`);
  });

  it('leaves nothing of a secret on the edge, wherever it lies', () => {
    for (let at = MAX - SECRET.length; at <= MAX; at += 1) {
      const text = crossing(`${'x'.repeat(at)}${SECRET}${'y'.repeat(10_000)}`);
      expect(text).not.toContain(SECRET.slice(0, 3));
      expect(text.length).toBeLessThanOrEqual(MAX + 1);
    }
  });

  it('shows no half of a secret that the thread cut, though redaction pulls it in front of the cap', () => {
    const room = MAX + redactor.overlapBytes;
    const many = `${SECRET} `.repeat(Math.ceil(room / (SECRET.length + 1)) - 1);
    const text = crossing(`${many.padEnd(room - 8, '-')}${SECRET} and more`);
    expect(text).not.toContain('hunter');
  });

  it('is whole when redaction alone has brought it below its cap', () => {
    expect(crossing(`${SECRET} `.repeat(5))).toBe('[REDACTED] '.repeat(5));
  });
});
