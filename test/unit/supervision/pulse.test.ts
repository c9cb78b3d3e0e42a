import { describe, expect, test } from 'vitest';
import { Pulse } from '../../../src/host/thread/pulse.ts';

const limits = { stallWarnMs: 1000, stallMs: 5000 };

describe('the pulse of a thread', () => {
  test('is late once, then stalled once, and fine again with the next beat', () => {
    const pulse = new Pulse(limits);
    expect(pulse.observe(1, 250, 0)).toBe('fine');
    const verdicts = Array.from({ length: 24 }, (_, i) => pulse.observe(1, 250, i * 250));
    expect(verdicts.indexOf('late')).toBe(3);
    expect(verdicts.indexOf('stalled')).toBe(19);
    expect(verdicts.filter((verdict) => verdict !== 'fine')).toEqual(['late', 'stalled']);
    expect(pulse.isResponsive).toBe(false);
    expect(pulse.observe(2, 250, 9000)).toBe('fine');
    expect([pulse.silentMs, pulse.isResponsive]).toEqual([0, true]);
  });

  test('does not count time that is nobody’s fault', () => {
    const pulse = new Pulse(limits);
    pulse.observe(1, 250, 0);
    for (let i = 0; i < 1000; i++) expect(pulse.observe(1, 0, i * 7000)).toBe('fine');
    expect(pulse.isResponsive).toBe(true);
  });

  test('is not judged before the first beat: starting has a limit of its own', () => {
    const pulse = new Pulse(limits);
    for (let i = 0; i < 100; i++) expect(pulse.observe(0, 250, i)).toBe('fine');
  });

  test('goes on when the count of beats wraps around', () => {
    const pulse = new Pulse(limits);
    pulse.observe(2 ** 31 - 1, 250, 0);
    expect(pulse.observe(-(2 ** 31), 4900, 0)).toBe('fine');
    expect(pulse.silentMs).toBe(0);
  });
});
