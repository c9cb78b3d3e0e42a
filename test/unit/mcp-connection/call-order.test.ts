import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { CallLane } from '../../../src/worker/mcp/connection/call/call-lane.ts';
import { CallStatistics } from '../../../src/worker/mcp/connection/call/call-statistics.ts';
import { ProgressThrottle } from '../../../src/worker/mcp/connection/call/progress-throttle.ts';

const live = new AbortController().signal;

describe('call lane', () => {
  test('calls enter one at a time and in order', async () => {
    const lane = new CallLane(false);
    const entered: number[] = [];
    const enter = async (n: number) => {
      const leave = await lane.enter(live, 'call');
      entered.push(n);
      return leave;
    };
    const calls = [1, 2, 3].map(enter);
    const leaveFirst = await calls[0];
    expect(entered).toEqual([1]);
    leaveFirst?.();
    (await calls[1])?.();
    (await calls[2])?.();
    expect(entered).toEqual([1, 2, 3]);
    expect(lane.isEmpty).toBe(true);
  });

  test('a call that is aborted while it waits is never admitted, and leaves no listener', async () => {
    const lane = new CallLane(false);
    const leave = await lane.enter(live, 'first');
    const controller = new AbortController();
    const aborted = lane.enter(controller.signal, 'second');
    const third = lane.enter(live, 'third');
    controller.abort('why');
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError', code: 'ABORTED', cause: 'why' });
    leave();
    (await third)();
    expect(lane.isEmpty).toBe(true);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('a signal that had fired before admits nobody', async () => {
    const lane = new CallLane(false);
    await expect(lane.enter(AbortSignal.abort(), 'call')).rejects.toMatchObject({ code: 'ABORTED' });
    expect(lane.isEmpty).toBe(true);
  });

  test('clearing rejects who waits and nobody else', async () => {
    const lane = new CallLane(false);
    const leave = await lane.enter(live, 'first');
    const waiting = lane.enter(live, 'second');
    lane.clear(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    expect(lane.active).toBe(1);
    leave();
    expect(lane.isEmpty).toBe(true);
  });

  test('a parallel lane admits all', async () => {
    const lane = new CallLane(true);
    await Promise.all([1, 2, 3].map(() => lane.enter(live, 'call')));
    expect(lane.active).toBe(3);
  });
});

describe('progress', () => {
  test('the first update goes at once, the last one at the end, and few between', () => {
    const seen: (number | undefined)[] = [];
    const throttle = new ProgressThrottle(({ progress }) => seen.push(progress));
    for (let progress = 1; progress <= 1000; progress += 1) throttle.push({ progress });
    expect(seen).toEqual([1]);
    throttle.end();
    throttle.push({ progress: 1001 });
    expect(seen).toEqual([1, 1000]);
  });
});

describe('statistics', () => {
  test('percentiles are of the last 256 answers', () => {
    const statistics = new CallStatistics();
    expect(statistics.counters(0)).toEqual({ calls: 0, errors: 0, restarts: 0 });
    for (let ms = 0; ms < 1000; ms += 1) {
      statistics.called();
      statistics.answered(5000);
    }
    for (let ms = 1; ms <= 256; ms += 1) statistics.answered(ms);
    statistics.failed();
    expect(statistics.counters(3)).toEqual({ calls: 1000, errors: 1, restarts: 2, p50Ms: 128, p95Ms: 244 });
  });
});
