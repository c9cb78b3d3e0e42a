import { describe, expect, test } from 'vitest';
import { InboundMeter } from '../../../src/host/thread/inbound-meter.ts';
import { DEFAULT_LIMITS } from '../../../src/shared/limits.ts';

function meter(limits: Partial<typeof DEFAULT_LIMITS> = {}) {
  const floods: string[] = [];
  return { floods, meter: new InboundMeter({ ...DEFAULT_LIMITS, ...limits }, (what) => floods.push(what)) };
}

const message = (content: unknown) => ({ type: 'message', customType: 't', content, display: true });

describe('the meter of what a thread posts', () => {
  test('lets notes that must not be lost pass until there are too many, tells once, and then nothing passes', () => {
    const { floods, meter: inbound } = meter({ losslessNotesPerSecond: 100 });
    const admitted = Array.from({ length: 150 }, (_, i) => inbound.admit(structuredClone(message(i)))).filter(Boolean);
    expect(admitted.length).toBe(100);
    expect(floods).toEqual(['more than 100 notes in a second']);
    expect(inbound.admit({ type: 'log', level: 'info', message: '' })).toBe(false);
    expect(inbound.enterRequest()).toBe(false);
  });

  test('counts their bytes, wherever in a value they are', () => {
    for (const content of [
      'x'.repeat(2000),
      ['x'.repeat(2000)],
      { ['k'.repeat(2000)]: { deep: [1] } },
      new Uint8Array(2000),
    ]) {
      const { floods, meter: inbound } = meter({ losslessBytesPerSecond: 10_000 });
      for (let i = 0; i < 6; i++) inbound.admit(structuredClone(message(content)));
      expect(floods).toEqual(['more than 10000 bytes of notes in a second']);
    }
  });

  test('takes a cycle for what it is: too much', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    const { floods, meter: inbound } = meter({ losslessBytesPerSecond: 10_000 });
    expect(inbound.admit(structuredClone(message(cycle)))).toBe(false);
    expect(floods.length).toBe(1);
  });

  test('drops lossy notes that have gone past the thread’s credit, and counts them', () => {
    const { floods, meter: inbound } = meter({ notesPerSecond: 10 });
    const admitted = Array.from({ length: 50 }, () => inbound.admit({ type: 'status', key: 'k', text: '' })).filter(
      Boolean,
    );
    expect([admitted.length, inbound.dropped, floods]).toEqual([20, 30, []]);
  });

  test('takes what is no note at all as one that counts', () => {
    const { floods, meter: inbound } = meter({ losslessNotesPerSecond: 5 });
    for (const odd of [undefined, null, 7, 'text', [], {}]) inbound.admit(odd);
    expect(floods.length).toBe(1);
  });

  test('refuses requests that have gone past the thread’s queue', () => {
    const { meter: inbound } = meter({ hostRequestsQueued: 2 });
    expect([inbound.enterRequest(), inbound.enterRequest(), inbound.enterRequest()]).toEqual([true, true, false]);
    inbound.leaveRequest();
    expect(inbound.enterRequest()).toBe(true);
  });
});
