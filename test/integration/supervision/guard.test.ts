import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ProcessGuard } from '../../../src/host/thread/process-guard.ts';
import { readProcess } from '../../../src/host/thread/process-list.ts';
import { extensionFile, makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { ProcessWatch } from '../../support/process-watch.ts';
import {
  childrenOf,
  descendantsOf,
  isAlive,
  processesWith,
  waitUntil,
  waitUntilEnded,
} from '../../support/processes.ts';
import { startSleeper } from '../../support/sleeper.ts';
import { RpcClient } from '../cli/rpc-client.ts';

const ALL = ['plain', 'detached', 'grandchild', 'orphan', 'apart', 'deaf', 'stopped', 'leaderless', 'nested'];

/** `caldera rpc` with an extension that has started processes in every way. */
async function busyHost(words: readonly string[] = []) {
  const client = new RpcClient(['--extension', extensionFile('starts-children.mjs'), ...words]).read();
  await client.open('a');
  const watch = new ProcessWatch(client.pid);
  for (const how of ALL) expect(await client.call('a', 'start', { how, mark: watch.marker })).toBe('started');
  const pids = [...new Set([...watch.found(), ...descendantsOf(client.pid)])];
  expect(pids.length).toBeGreaterThan(ALL.length);
  expect(pids.every(isAlive)).toBe(true);
  return { client, pids };
}

const isGuard = (pid: number) => processesWith('CALDERA_GUARD=').includes(pid);
const guardsOf = (pid: number = process.pid) => childrenOf(pid).filter(isGuard);

describe('when the process of a host ends, however that goes, nothing that it started is left', () => {
  test.each(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGABRT'] as const)('%s', async (signal) => {
    const { client, pids } = await busyHost();
    client.process.kill(signal);
    await waitUntilEnded([client.pid, ...pids]);
  });

  test('SIGKILL while it is stopped', async () => {
    const { client, pids } = await busyHost();
    client.process.kill('SIGSTOP');
    client.process.kill('SIGKILL');
    await waitUntilEnded([client.pid, ...pids]);
  });

  test('SIGKILL while its thread spins', async () => {
    const { client, pids } = await busyHost();
    client.send('tool/call', { sessionId: 'a', name: 'die', arguments: { how: 'spin' } });
    await client.result('host/inspect');
    client.process.kill('SIGKILL');
    await waitUntilEnded([client.pid, ...pids]);
  });

  test('the end of its input', async () => {
    const { client, pids } = await busyHost();
    client.process.stdin.end();
    expect(await client.exited).toEqual({ code: 0, signal: null });
    await waitUntilEnded(pids);
  });

  test('a host inside an extension of a host', async () => {
    const inner = new ProcessWatch();
    const host = makeHost(['nested-host.mjs']);
    const session = await openSession(host);
    const command = { mark: inner.marker, extension: extensionFile('starts-children.mjs') };
    const pid = Number(textOf(await session.callTool({ name: 'start_host', arguments: command })));
    const pids = [pid, ...processesWith(inner.marker), ...descendantsOf(pid)];
    expect(guardsOf(pid).length).toBe(1);
    expect(pids.length).toBeGreaterThan(3);
    await session.callTool({ name: 'die' });
    await waitUntilEnded(pids);
  });

  test('an uncaught exception in the program around it', async () => {
    const watch = new ProcessWatch();
    const program = startSleeper({
      program: 'failing-host.mjs',
      args: [extensionFile('starts-children.mjs'), watch.marker],
    });
    const pids = await waitUntil(() => {
      const found = processesWith(watch.marker).filter((pid) => pid !== program.pid);
      return found.length > 0 ? found : undefined;
    }, 'a child of its extension');
    await waitUntilEnded([program.pid, ...pids]);
  });
});

describe('the guard', () => {
  test('is started with the first thread, in a session of its own and without the mark, and goes with its host', async () => {
    const before = guardsOf();
    const [one, other] = [makeHost(['neighbour.mjs']), makeHost(['neighbour.mjs'])];
    await Promise.all([one.start(), other.start()]);
    const guards = guardsOf().filter((pid) => !before.includes(pid));
    expect(guards.length).toBe(2);
    for (const pid of guards) {
      expect(readProcess(pid)).toMatchObject({ pid, group: pid, session: pid });
      expect(readFileSync(`/proc/${pid}/environ`, 'latin1')).not.toMatch(/CALDERA_OWNER/);
    }
    await one.close();
    expect(guards.filter(isAlive).length).toBe(1);
    await other.close();
    expect(guards.filter(isAlive)).toEqual([]);
  });

  test('is there again when somebody has ended it', async () => {
    const before = guardsOf();
    await makeHost(['neighbour.mjs']).start();
    const [guard] = guardsOf().filter((pid) => !before.includes(pid));
    if (guard === undefined) throw new Error('there is no guard');
    process.kill(guard, 'SIGKILL');
    const [next = 0] = await waitUntil(() => {
      const found = guardsOf().filter((pid) => pid !== guard && !before.includes(pid));
      return found.length > 0 ? found : undefined;
    }, 'another guard');
    expect(isAlive(next)).toBe(true);
  });

  test('leaves a process alone that has the pid of one it was told of, but another start time', async () => {
    const [told, reused, taken] = [startSleeper(), startSleeper(), startSleeper()];
    const guard = new ProcessGuard({ ownerMark: `1:1:${told.marker}`, onProblem: () => {} });
    guard.start();
    guard.add(told.pid, readProcess(told.pid)?.start);
    guard.add(reused.pid, (readProcess(reused.pid)?.start ?? 0) + 1);
    guard.add(taken.pid, readProcess(taken.pid)?.start);
    guard.remove(taken.pid);
    const pid = guard.pid ?? 0;
    guard.abandon();
    await waitUntilEnded([told.pid, pid]);
    expect([reused.pid, taken.pid].filter((one) => !isAlive(one))).toEqual([]);
  });
});
