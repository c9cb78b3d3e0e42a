import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ExtensionHost, HostEvents, LogRecord } from '../../../src/host/index.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { waitUntil } from '../../support/processes.ts';

const QUICK = { heartbeatMs: 50, stallWarnMs: 300, stallMs: 900, restartBackoffMs: [0] };

const stateOf = (host: ExtensionHost) => host.inspect().extensions.find(({ name }) => name === 'misbehaves');

describe('a thread that does not come back to its event loop', () => {
  test.each(['spin', 'wait'])(
    'is ended while it does %s, with every call in it; others go on and the next call runs',
    async (how) => {
      const host = makeHost(['misbehaves.mjs', 'neighbour.mjs'], { limits: QUICK });
      const states: HostEvents['extension-state'][] = [];
      const logs: LogRecord[] = [];
      host.on('extension-state', (state) => states.push(state));
      host.on('log', (record) => logs.push(record));
      const [one, other] = [await openSession(host), await openSession(host)];
      const beside = other.callTool({ name: 'never' });
      const stalled = one.callTool({ name: how });
      const neighbour = await other.callTool({ name: 'count' });
      expect(textOf(neighbour)).toBe('1');
      for (const result of [await stalled, await beside]) {
        expect(result).toMatchObject({
          isError: true,
          details: { outcome: 'sent-unknown', error: { code: 'THREAD_STALLED' } },
        });
        expect(textOf(result)).toMatch(/stalled: it did not respond for/);
      }
      expect(logs.map(({ message }) => message).join('\n')).toMatch(/misbehaves has not responded for/);
      expect(textOf(await one.callTool({ name: 'ping' }))).toBe('alive');
      expect(stateOf(host)?.threads[0]).toMatchObject({ state: 'running', generation: 2, restarts: 1 });
      const told = states.filter(({ extension }) => extension === 'misbehaves');
      expect(told.map(({ state, generation }) => `${state} ${generation}`)).toEqual([
        'loading 0',
        'running 1',
        'restarting 1',
        'running 2',
      ]);
      expect(told[2]?.reason).toMatch(/stalled/);
    },
  );

  test('is left alone when it is only busy, and when the limit is not reached', async () => {
    const host = makeHost(['misbehaves.mjs'], { limits: { ...QUICK, stallMs: 8000 } });
    const session = await openSession(host);
    expect(textOf(await session.callTool({ name: 'busy', arguments: { ms: 1200 } }))).toBe('done');
    expect(stateOf(host)?.threads[0]?.generation).toBe(1);
  });

  test('is not blamed for the time in which main was busy itself', async () => {
    const host = makeHost(['misbehaves.mjs'], { limits: QUICK });
    const session = await openSession(host);
    const busy = session.callTool({ name: 'busy', arguments: { ms: 1500 } });
    await delay(50);
    const end = performance.now() + 1800;
    while (performance.now() < end);
    expect(textOf(await busy)).toBe('done');
    expect(stateOf(host)?.threads[0]?.generation).toBe(1);
  });

  test('does not hold up the end of the host', async () => {
    const host = makeHost(['misbehaves.mjs'], { limits: { ...QUICK, stallMs: 60_000 } });
    const session = await openSession(host);
    const spinning = session.callTool({ name: 'spin' });
    await waitUntil(() => (stateOf(host)?.threads[0]?.beatAgeMs ?? 0) > 400, 'a thread that is silent');
    const from = performance.now();
    await host.close();
    expect(performance.now() - from).toBeLessThan(5000);
    expect(await spinning).toMatchObject({ isError: true, details: { error: { code: 'SESSION_CLOSED' } } });
  });
});

describe('a thread that takes too much memory', () => {
  test.each(['leak_objects', 'leak_buffers', 'allocate'])('is ended at the limit: %s', async (how) => {
    const host = makeHost(['misbehaves.mjs', 'neighbour.mjs'], {
      limits: { softMemoryMb: 128, stallMs: 60_000, restartBackoffMs: [0] },
    });
    const session = await openSession(host);
    const result = await session.callTool({ name: how });
    expect(result).toMatchObject({ isError: true, details: { error: { code: 'THREAD_MEMORY' } } });
    expect(textOf(result)).toMatch(/MB of memory, more than its 128 MB/);
    expect(textOf(await session.callTool({ name: 'count' }))).toBe('1');
    expect(textOf(await session.callTool({ name: 'ping' }))).toBe('alive');
  });

  test('is judged by what it holds: garbage is collected first', async () => {
    const host = makeHost(['misbehaves.mjs'], { limits: { softMemoryMb: 96 } });
    const session = await openSession(host);
    expect(textOf(await session.callTool({ name: 'litter', arguments: { mb: 1500 } }))).toBe('true');
    expect(stateOf(host)?.threads[0]?.generation).toBe(1);
  });
});

test('an extension that never comes back from its import fails with the stall as its reason', async () => {
  const host = makeHost(['spins-at-import.mjs', 'neighbour.mjs'], { limits: QUICK });
  const { failures } = await host.start();
  expect(failures).toMatchObject([{ extension: 'spins-at-import', code: 'EXTENSION_LOAD_FAILED' }]);
  expect(failures[0]?.message).toMatch(/stalled/);
  const session = await openSession(host);
  expect(textOf(await session.callTool({ name: 'count' }))).toBe('1');
});

test('inspect tells how a thread does', async () => {
  const host = makeHost(['misbehaves.mjs'], { limits: QUICK });
  await openSession(host);
  const thread = await waitUntil(() => {
    const seen = stateOf(host)?.threads[0];
    return seen && seen.heapMb > 0 ? seen : undefined;
  }, 'a beat');
  expect(thread).toMatchObject({
    state: 'running',
    generation: 1,
    restarts: 0,
    sessions: 1,
    droppedNotes: 0,
    pids: [],
  });
  expect(thread.heapMb).toBeLessThan(100);
  expect(thread.utilization).toBeLessThanOrEqual(1);
  await waitUntil(() => (stateOf(host)?.threads[0]?.beatAgeMs ?? 9999) < 200, 'a thread that beats');
});
