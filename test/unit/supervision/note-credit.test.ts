import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/shared/limits.ts';
import type { ThreadNote } from '../../../src/shared/protocol.ts';
import { LogForwarder } from '../../../src/worker/log-forwarder.ts';
import { NoteCredit } from '../../../src/worker/note-credit.ts';

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

describe('log records over the credit', () => {
  function forwarder() {
    const notes: string[] = [];
    const limits = { ...DEFAULT_LIMITS, notesPerSecond: 40 };
    const { credit: of, dropped } = credit(limits);
    const post = (note: ThreadNote): void => void (note.type === 'log' && notes.push(note.message));
    return { notes, dropped, log: new LogForwarder(post, of, limits, 0) };
  }

  test('wait, and pass in their order when they are no more than a second’s worth', () => {
    const { notes, dropped, log } = forwarder();
    const written = Array.from({ length: 40 }, (_, i) => `line ${i}`);
    for (const line of written) log.info(line);
    expect(notes.length).toBeLessThan(20);
    vi.advanceTimersByTime(2000);
    expect([notes, dropped()]).toEqual([written, 0]);
  });

  test('lose their oldest when they are more, and how many is told', () => {
    const { notes, dropped, log } = forwarder();
    for (let i = 0; i < 1000; i++) log.info({ i }, `line ${i}`);
    const atOnce = notes.length;
    vi.advanceTimersByTime(3000);
    expect(dropped()).toBe(1000 - 40 - atOnce);
    expect(notes).toContain(`${dropped()} log records dropped: more than the limits let through`);
    expect(notes.filter((note) => note.startsWith('line')).slice(atOnce)).toEqual(
      Array.from({ length: 40 }, (_, i) => `line ${960 + i}`),
    );
  });

  test('are bounded in bytes, too', () => {
    const { dropped, log } = forwarder();
    for (let i = 0; i < 30; i++) log.info({ facts: ['x'.repeat(16_000)] }, 'y'.repeat(9000));
    expect(dropped()).toBe(0);
    const small = new LogForwarder(
      () => {},
      credit({ logBytesPerSecond: 1000 }).credit,
      {
        notesPerSecond: 2000,
        logBytesPerSecond: 1000,
      },
      0,
    );
    for (let i = 0; i < 30; i++) small.info('y'.repeat(100));
    vi.advanceTimersByTime(100);
    expect(vi.getTimerCount()).toBeGreaterThan(0);
  });

  test('are flushed when the thread ends', () => {
    const { notes, log } = forwarder();
    for (let i = 0; i < 30; i++) log.info(`line ${i}`);
    log.flush();
    expect(notes).toEqual(Array.from({ length: 30 }, (_, i) => `line ${i}`));
  });
});
