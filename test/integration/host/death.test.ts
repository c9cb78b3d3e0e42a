import { describe, expect, test } from 'vitest';
import type { HostEvents } from '../../../src/host/index.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { isAlive, waitUntil, waitUntilEnded, zombiesOf } from '../../support/processes.ts';

describe.each([
  ['exit 7', /exited with code 7/],
  ['exit 0', /exited with code 0/],
  ['throw', /a late throw/],
  ['reject', /a late rejection/],
])('a thread that ends by %s', (how, cause) => {
  test('fails every call in flight with the cause, and comes back with the next call', async () => {
    const host = makeHost(['dies.mjs', 'neighbour.mjs']);
    const states: HostEvents['extension-state'][] = [];
    host.on('extension-state', (state) => states.push(state));
    const [one, other] = [await openSession(host), await openSession(host)];
    expect(textOf(await one.callTool({ name: 'started' }))).toBe('startup');
    const pending = [one.callTool({ name: 'never' }), other.callTool({ name: 'never' })];
    const died = await one.callTool({ name: 'die', arguments: { how } });
    for (const result of [died, ...(await Promise.all(pending))]) {
      expect(result).toMatchObject({
        isError: true,
        details: { outcome: 'sent-unknown', error: { code: 'THREAD_EXITED' } },
      });
      expect(textOf(result)).toMatch(cause);
    }
    expect(textOf(await one.callTool({ name: 'count' }))).toBe('1');
    expect(one.tools.map(({ name }) => name)).toContain('ping');
    expect(textOf(await one.callTool({ name: 'started' }))).toBe('recovered');
    expect(textOf(await other.callTool({ name: 'ping' }))).toBe('alive');
    expect(
      states.filter(({ extension }) => extension === 'dies').map(({ state, generation }) => `${state} ${generation}`),
    ).toEqual(['loading 0', 'running 1', 'restarting 1', 'running 2']);
  });
});

test('a session that opens while its thread ends has its tools all the same', async () => {
  const host = makeHost(['starts-slowly.mjs']);
  const one = await openSession(host);
  const opening = openSession(host);
  const died = await one.callTool({ name: 'exit' });
  expect(died).toMatchObject({ details: { error: { code: 'THREAD_EXITED' } } });
  const other = await opening;
  expect(other.failures).toEqual([]);
  expect(textOf(await other.callTool({ name: 'ping' }))).toBe('alive');
});

test('a factory that ends its thread is tried twice, and then is a failure of its session', async () => {
  const host = makeHost(['exits-at-start.mjs', 'neighbour.mjs'], { limits: { restartBackoffMs: [0] } });
  const generations: number[] = [];
  host.on('extension-state', ({ state, generation }) => state === 'running' && generations.push(generation));
  const session = await openSession(host);
  expect(session.failures).toMatchObject([{ extension: 'exits-at-start', code: 'THREAD_EXITED' }]);
  expect(session.tools.map(({ name }) => name)).toContain('count');
  expect(generations.filter((number) => number > 1)).toEqual([2]);
});

test('a call that was sent into a dying thread cannot hurt the next one', async () => {
  const host = makeHost(['dies.mjs'], { limits: { restartBackoffMs: [0] } });
  const session = await openSession(host);
  for (let round = 0; round < 4; round++) {
    const death = session.callTool({ name: 'die', arguments: { how: 'exit 7' } });
    const burst = await Promise.all(Array.from({ length: 50 }, () => session.callTool({ name: 'ping' })));
    for (const result of burst)
      expect(result.isError ? result.details?.error?.code : textOf(result)).toMatch(/^(alive|THREAD_EXITED)$/);
    expect((await death).isError).toBe(true);
    expect(textOf(await session.callTool({ name: 'ping' }))).toBe('alive');
  }
});

test('deaths that follow one another wait longer, then stop until a reload', async () => {
  const host = makeHost(['dies.mjs'], { limits: { restartBackoffMs: [0, 100, 200], crashLoopDeaths: 3 } });
  const session = await openSession(host);
  for (let i = 0; i < 2; i++) await session.callTool({ name: 'die', arguments: { how: 'exit 7' } });
  const from = performance.now();
  expect(textOf(await session.callTool({ name: 'ping' }))).toBe('alive');
  expect(performance.now() - from).toBeGreaterThanOrEqual(95);
  await session.callTool({ name: 'die', arguments: { how: 'exit 7' } });
  await waitUntil(() => host.inspect().extensions[0]?.state === 'crash-looping', 'the crash-loop stop');
  const refused = await session.callTool({ name: 'ping' });
  expect(refused).toMatchObject({ isError: true, details: { outcome: 'not-sent', error: { code: 'CRASH_LOOPING' } } });
  expect(textOf(refused)).toMatch(/reload/);
  await host.reload('dies');
  expect(textOf(await session.callTool({ name: 'ping' }))).toBe('alive');
});

test('a call that waits through the back-off is ended by its own timeout and is not sent afterwards', async () => {
  const host = makeHost(['dies.mjs'], { limits: { restartBackoffMs: [400] } });
  const session = await openSession(host);
  await session.callTool({ name: 'die', arguments: { how: 'exit 7' } });
  const late = await session.callTool({ name: 'ping' }, { timeoutMs: 100 });
  expect(late).toMatchObject({ isError: true, details: { outcome: 'not-sent', error: { code: 'CALL_TIMEOUT' } } });
  expect(textOf(await session.callTool({ name: 'ping' }))).toBe('alive');
});

test('the processes of a dead thread are ended; those of a closed host are reaped', async () => {
  const host = makeHost(['has-child.mjs']);
  const session = await openSession(host);
  const orphan = Number(textOf(await session.callTool({ name: 'spawn' })));
  expect(host.inspect().processes).toMatchObject([
    { pid: orphan, extension: 'has-child', session: session.id, server: 'child' },
  ]);
  expect((await session.callTool({ name: 'die' })).isError).toBe(true);
  await waitUntilEnded([orphan]);
  const children = [
    Number(textOf(await session.callTool({ name: 'spawn' }))),
    Number(textOf(await session.callTool({ name: 'spawn', arguments: { detached: false } }))),
  ];
  expect(children.every(isAlive)).toBe(true);
  await host.close();
  expect(children.filter(isAlive)).toEqual([]);
  expect(zombiesOf().filter((pid) => children.includes(pid))).toEqual([]);
});

test('closing a host ends a thread that is in its back-off', async () => {
  const host = makeHost(['dies.mjs'], { limits: { restartBackoffMs: [60_000] } });
  const session = await openSession(host);
  await session.callTool({ name: 'die', arguments: { how: 'exit 7' } });
  const waiting = session.callTool({ name: 'ping' });
  await host.close();
  expect(await waiting).toMatchObject({ isError: true, details: { error: { code: 'SESSION_CLOSED' } } });
});
