import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/shared/limits.ts';
import type { ThreadNote } from '../../../src/shared/protocol.ts';
import { LogForwarder } from '../../../src/worker/log-forwarder.ts';
import { NoteCredit } from '../../../src/worker/note-credit.ts';
import { OutputRing } from '../../../src/worker/output-capture.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function credit(limits: Partial<typeof DEFAULT_LIMITS> = {}) {
  let dropped = 0;
  const made = new NoteCredit({ ...DEFAULT_LIMITS, ...limits }, () => void dropped++);
  return { credit: made, dropped: () => dropped };
}

describe('the credit of a thread', () => {
  test('lets a second’s worth pass in a second of flood, in pieces', () => {
    const { credit: of, dropped } = credit({ notesPerSecond: 1000 });
    let passed = 0;
    for (let ms = 0; ms < 1000; ms++) {
      for (let i = 0; i < 10; i++) if (of.take()) passed++;
      vi.advanceTimersByTime(1);
    }
    expect(passed).toBeGreaterThanOrEqual(1000);
    expect(passed).toBeLessThanOrEqual(1300);
    expect(dropped()).toBe(10_000 - passed);
  });

  test('keeps a part for progress and notices that a flood of logs cannot take', () => {
    const { credit: of } = credit({ notesPerSecond: 1000 });
    while (of.takeLog(1));
    expect(Array.from({ length: 50 }, () => of.take()).every(Boolean)).toBe(true);
  });

  test('lets a log record that is larger than its bytes pass once in a while', () => {
    const { credit: of } = credit({ logBytesPerSecond: 1000 });
    expect([of.takeLog(4000), of.takeLog(1)]).toEqual([true, false]);
    vi.advanceTimersByTime(4000);
    expect(of.takeLog(1)).toBe(true);
  });

  test('of one note a second is one note a second', () => {
    const { credit: of } = credit({ notesPerSecond: 1 });
    expect([of.take(), of.take()]).toEqual([true, false]);
    vi.advanceTimersByTime(1001);
    expect([of.takeLog(1), of.takeLog(1)]).toEqual([true, false]);
  });
});

describe('output over the credit', () => {
  function ring() {
    const notes: string[] = [];
    const { credit: of } = credit({ notesPerSecond: 8 });
    const post = (note: ThreadNote): void => void (note.type === 'log' && notes.push(note.message));
    return { notes, output: new OutputRing(new LogForwarder(post, of)) };
  }

  test('waits, keeps its order, and loses its oldest lines, which are counted', () => {
    const { notes, output } = ring();
    for (let i = 0; i < 1000; i++) output.push('stdout', `line ${i}`);
    const atOnce = notes.length;
    expect(atOnce).toBeGreaterThan(0);
    vi.advanceTimersByTime(1000);
    expect(notes).toContain(`${1000 - 200 - atOnce} log records dropped: more than the limits let through`);
    const next = notes.find((note, i) => i >= atOnce && note.startsWith('line'));
    expect(next).toBe('line 800');
  });

  test('is flushed when the thread ends', () => {
    const { notes, output } = ring();
    for (let i = 0; i < 100; i++) output.push('stderr', `line ${i}`);
    output.flush();
    expect(notes).toEqual(Array.from({ length: 100 }, (_, i) => `line ${i}`));
  });
});
