import { describe, expect, test } from 'vitest';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { ProcessWatch } from '../../support/process-watch.ts';
import { isAlive, waitUntilEnded, zombiesOf } from '../../support/processes.ts';

const WAYS = [
  'plain',
  'detached',
  'unrefed',
  'exec',
  'execFile',
  'fork',
  'grandchild',
  'orphan',
  'apart',
  'deaf',
  'stopped',
  'leaderless',
  'unmarked',
  'nested',
];
const QUICK = { heartbeatMs: 50, stallWarnMs: 200, stallMs: 500, restartBackoffMs: [0], crashLoopDeaths: 100 };

/** An extension that has started something, in a session. */
async function started(ways: readonly string[]) {
  const host = makeHost(['starts-children.mjs', 'neighbour.mjs'], { limits: QUICK });
  const session = await openSession(host);
  const watch = new ProcessWatch();
  for (const how of ways) {
    expect(textOf(await session.callTool({ name: 'start', arguments: { how, mark: watch.marker } }))).toBe('started');
  }
  const pids = watch.found();
  expect(pids.length).toBeGreaterThanOrEqual(ways.length);
  expect(pids.every(isAlive)).toBe(true);
  return { host, session, pids, watch };
}

describe('processes that an extension started with any function', () => {
  test.each(['exit', 'throw', 'spin'])('are gone when its thread ends by %s, and the next thread runs', async (how) => {
    const { session, pids, watch } = await started(WAYS);
    expect(await session.callTool({ name: 'die', arguments: { how } })).toMatchObject({ isError: true });
    await waitUntilEnded(pids);
    expect(textOf(await session.callTool({ name: 'ping' }))).toBe('alive');
    expect(watch.found()).toEqual([]);
  });

  test('are gone and reaped when the host is closed', async () => {
    const { host, pids, watch } = await started(WAYS);
    await host.close();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(watch.found()).toEqual([]);
    expect(zombiesOf().filter((pid) => pids.includes(pid))).toEqual([]);
  });

  test('are gone and reaped when the extension is reloaded', async () => {
    const { host, session, pids } = await started(WAYS);
    await host.reload('starts-children');
    expect(pids.filter(isAlive)).toEqual([]);
    expect(zombiesOf().filter((pid) => pids.includes(pid))).toEqual([]);
    expect(textOf(await session.callTool({ name: 'ping' }))).toBe('alive');
  });

  test('are reaped on a reload by a thread inside of their own, too', async () => {
    const { host, pids } = await started(['nestedBusy']);
    await host.reload('starts-children');
    expect(zombiesOf().filter((pid) => pids.includes(pid))).toEqual([]);
  });

  test('are reaped when the thread throws', async () => {
    const { session, pids } = await started(['plain', 'detached', 'grandchild', 'exec']);
    await session.callTool({ name: 'die', arguments: { how: 'throw' } });
    await waitUntilEnded(pids);
    expect(textOf(await session.callTool({ name: 'ping' }))).toBe('alive');
    expect(zombiesOf().filter((pid) => pids.includes(pid))).toEqual([]);
  });

  test('show in inspect while they live, and no longer', async () => {
    const { host, session, pids } = await started(['plain']);
    expect(host.inspect().processes).toMatchObject([{ pid: pids[0], extension: 'starts-children', state: 'running' }]);
    await session.callTool({ name: 'die', arguments: { how: 'exit' } });
    await waitUntilEnded(pids);
    expect(textOf(await session.callTool({ name: 'ping' }))).toBe('alive');
    expect(host.inspect().processes).toEqual([]);
  });
});

test.each(['start_and_exit', 'start_and_spin', 'start_and_wait'])(
  'a child of which nothing could be told is ended, too: %s',
  async (tool) => {
    const host = makeHost(['starts-children.mjs'], { limits: QUICK });
    const session = await openSession(host);
    const watch = new ProcessWatch();
    const call = session.callTool({ name: tool, arguments: { mark: watch.marker } });
    expect(await call).toMatchObject({ isError: true });
    expect(textOf(await session.callTool({ name: 'ping' }))).toBe('alive');
    expect(watch.found()).toEqual([]);
  },
);

test('the end of one thread leaves the processes of the others alone, in its own host and in another one of the process', async () => {
  const one = await started(['plain', 'orphan']);
  const other = await started(['plain', 'orphan']);
  const kept = other.pids.filter((pid) => !one.pids.includes(pid));
  const beside = makeHost(['starts-children.mjs', 'has-child.mjs'], { limits: QUICK });
  const session = await openSession(beside);
  const child = Number(textOf(await session.callTool({ name: 'spawn' })));
  await session.callTool({ name: 'die', arguments: { how: 'exit' } });
  await one.host.close();
  await waitUntilEnded(one.pids);
  expect([...kept, child].filter((pid) => !isAlive(pid))).toEqual([]);
});
