import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach, describe, expect, test } from 'vitest';
import {
  childrenOf,
  descendantsOf,
  isAlive,
  processesWith,
  processStat,
  waitUntil,
  waitUntilEnded,
  zombiesOf,
} from '../support/processes.ts';

const started: ChildProcess[] = [];
afterEach(async () => {
  const groups = started.splice(0).flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  for (const pid of groups) if (isAlive(pid)) process.kill(-pid, 'SIGKILL');
  await waitUntilEnded(groups);
});

/** Runs a shell script in a process group of its own, which the test ends with it. */
function shell(script: string, env: Record<string, string> = {}): number {
  const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: 'ignore', env: { ...process.env, ...env } });
  started.push(child);
  return child.pid ?? 0;
}

describe('what tests ask of /proc', () => {
  test('a zombie is not alive, and is found below the parent that does not wait for it', async () => {
    // The shell turns into a program that never waits for the child the shell had.
    const pid = shell('sleep 0.1 & exec sleep 60');
    const zombie = await waitUntil(() => zombiesOf(pid)[0], 'a zombie');
    expect(processStat(zombie)).toMatchObject({ state: 'Z', parent: pid, group: pid });
    expect(isAlive(zombie)).toBe(false);
    expect(childrenOf(pid)).toEqual([]);
    expect(isAlive(pid)).toBe(true);
  });

  test('descendants are found at any depth, and nothing is left of them after the end', async () => {
    const pid = shell('sh -c "sleep 60; true" & wait');
    await waitUntil(() => descendantsOf(pid).length === 2, 'a child and its child');
    expect(childrenOf(pid)).toHaveLength(1);
    expect(descendantsOf()).toEqual(expect.arrayContaining([pid, ...descendantsOf(pid)]));
    const all = [pid, ...descendantsOf(pid)];
    process.kill(-pid, 'SIGKILL');
    await waitUntilEnded(all);
  });

  test('a process that lost its parent is found by a marker in its environment', async () => {
    const marker = `marker-${process.pid}-${Date.now()}`;
    const pid = shell('sleep 60 & exit 0', { MARKER: marker });
    await waitUntilEnded([pid]);
    const [orphan = 0, ...others] = processesWith(marker);
    expect(others).toEqual([]);
    expect(processStat(orphan)?.group).toBe(pid);
    process.kill(orphan, 'SIGKILL');
    await waitUntilEnded([orphan]);
    expect(processesWith(marker)).toEqual([]);
  });

  test('waiting for what never comes ends with what it was', async () => {
    await expect(waitUntil(() => false, 'a miracle', { timeoutMs: 50 })).rejects.toThrow('not within 50 ms: a miracle');
  });
});
