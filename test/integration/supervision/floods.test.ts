import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, test } from 'vitest';
import type { LogRecord } from '../../../src/host/index.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { waitUntil } from '../../support/processes.ts';

/** Generous: a flood that reached main unthrottled stalls it for seconds. */
const MAIN_MS = 1000;

describe('notes that must not be lost', () => {
  test.each([
    ['flood_messages', /more than 10000 notes in a second/],
    ['flood_failures', /more than 10000 notes in a second/],
    ['flood_active_tools', /more than 10000 notes in a second/],
    ['spin_messages', /more than 10000 notes in a second/],
    ['flood_large_messages', /more than 16777216 bytes of notes in a second/],
  ])('end the thread that floods main with them: %s', async (tool, why) => {
    const host = makeHost(['misbehaves.mjs', 'neighbour.mjs']);
    const session = await openSession(host);
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    const result = await session.callTool({ name: tool });
    delay.disable();
    expect(result).toMatchObject({ isError: true, details: { error: { code: 'THREAD_EXITED' } } });
    expect(textOf(result)).toMatch(why);
    expect(delay.max / 1e6).toBeLessThan(MAIN_MS);
    expect(textOf(await session.callTool({ name: 'count' }))).toBe('1');
    expect(textOf(await session.callTool({ name: 'ping' }))).toBe('alive');
  });

  test('tools that come and go reach the host as often as it can take them', async () => {
    const host = makeHost(['misbehaves.mjs']);
    const session = await openSession(host);
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    const result = await session.callTool({ name: 'flood_tools', arguments: { ms: 1000 } });
    delay.disable();
    expect(textOf(result)).toBe('flooded');
    expect(delay.max / 1e6).toBeLessThan(MAIN_MS);
    expect(host.inspect().extensions[0]?.threads[0]?.generation).toBe(1);
  });
});

describe('notes that may be lost', () => {
  test.each(['flood_notices', 'flood_status', 'flood_log', 'flood_console'])(
    'are dropped over the credit and counted, and the thread lives on: %s',
    async (tool) => {
      const host = makeHost(['misbehaves.mjs', 'neighbour.mjs']);
      const session = await openSession(host);
      let notes = 0;
      session.on('notify', () => void notes++);
      session.on('status', () => void notes++);
      host.on('log', () => void notes++);
      const delay = monitorEventLoopDelay({ resolution: 10 });
      delay.enable();
      const from = performance.now();
      expect(textOf(await session.callTool({ name: tool, arguments: { ms: 1500 } }))).toBe('flooded');
      const seconds = (performance.now() - from) / 1000;
      delay.disable();
      expect(notes).toBeGreaterThan(100);
      expect(notes).toBeLessThan(2000 * (seconds + 1));
      expect(delay.max / 1e6).toBeLessThan(MAIN_MS);
      const thread = host.inspect().extensions[0]?.threads[0];
      expect(thread).toMatchObject({ generation: 1 });
      expect(thread?.droppedNotes).toBeGreaterThan(0);
      expect(textOf(await session.callTool({ name: 'ping' }))).toBe('alive');
    },
  );

  test('of a console flood the last lines arrive, and how many are missing is told', async () => {
    const host = makeHost(['misbehaves.mjs'], { limits: { notesPerSecond: 100 } });
    const records: LogRecord[] = [];
    host.on('log', (record) => records.push(record));
    const session = await openSession(host);
    await session.callTool({ name: 'flood_console', arguments: { ms: 500 } });
    const told = await waitUntil(() => records.find(({ message }) => /log records dropped/.test(message)), 'the count');
    expect(Number.parseInt(told.message, 10)).toBeGreaterThan(0);
    expect(records.find(({ stream }) => stream === 'stdout')?.level).toBe('info');
  });

  test('progress of one call is throttled to what its caller can use', async () => {
    const host = makeHost(['misbehaves.mjs']);
    const session = await openSession(host);
    let updates = 0;
    const options = { onProgress: () => void updates++ };
    await session.callTool({ name: 'flood_progress', arguments: { ms: 1000 } }, options);
    expect(updates).toBeGreaterThan(1);
    expect(updates).toBeLessThan(50);
  });
});

test('host requests over the limits wait in the thread, and over the queue they are refused', async () => {
  const limits = { hostRequestsInFlight: 4, hostRequestsQueued: 10 };
  const session = await openSession(makeHost(['misbehaves.mjs'], { limits }));
  const codes = JSON.parse(textOf(await session.callTool({ name: 'ask', arguments: { count: 20 } }))) as object;
  expect(codes).toEqual({ PERMISSION_DENIED: 14, HOST_BUSY: 6 });
});

test("a thread's own port leads nowhere, and nothing of the boundary lies about in it", async () => {
  const session = await openSession(makeHost(['misbehaves.mjs']));
  const result = await session.callTool({ name: 'flood_own_port' });
  expect([result.isError, textOf(result)]).toEqual([false, '']);
});
