/**
 * Processes as Linux sees them. `process.kill(pid, 0)` calls a zombie alive, so tests read `/proc/<pid>/stat`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** One line of `/proc/<pid>/stat`. `startTicks` tells a process from a later one with the same pid. */
export interface ProcessStat {
  readonly pid: number;
  /** `R`, `S`, `D`, `T`, …; `Z` for a zombie. */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  /** Priority: greater is later. */
  readonly nice: number;
  readonly startTicks: number;
}

/** Of a process, or of a thread. `undefined` when there is none. */
export function processStat(pid: number): ProcessStat | undefined {
  const text = readProc(pid, 'stat');
  if (text === undefined) return undefined;
  // The second field is the program's name in brackets, which may hold spaces and brackets itself.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    state: fields[0] ?? '?',
    parent: Number(fields[1]),
    group: Number(fields[2]),
    nice: Number(fields[16]),
    startTicks: Number(fields[19]),
  };
}

/** True while the process exists and is no zombie. */
export function isAlive(pid: number): boolean {
  const stat = processStat(pid);
  return stat !== undefined && !isDead(stat);
}

/** Direct children that live. */
export function childrenOf(pid: number = process.pid): number[] {
  return childStats(pid)
    .filter((stat) => !isDead(stat))
    .map((stat) => stat.pid);
}

/** Direct children that ended and that nobody has waited for. */
export function zombiesOf(pid: number = process.pid): number[] {
  return childStats(pid)
    .filter(isDead)
    .map((stat) => stat.pid);
}

/** Living processes below `pid`, however deep; without those whose parent has died (see {@link processesWith}). */
export function descendantsOf(pid: number = process.pid): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/**
 * Living processes that were started with `marker` in their arguments or environment, wherever they are in the tree:
 * this finds the orphans of a dead parent. The calling process itself is left out.
 */
export function processesWith(marker: string): number[] {
  return allPids().filter(
    (pid) =>
      pid !== process.pid &&
      isAlive(pid) &&
      ['cmdline', 'environ'].some((file) => readProc(pid, file)?.includes(marker) ?? false),
  );
}

/**
 * Waits until `probe` answers with something truthy and resolves with that; rejects with `what` when it does not in time.
 * The bound (default 10 s) is there to end a broken test, never to measure: keep it generous.
 */
export async function waitUntil<T>(
  probe: () => T | Promise<T>,
  what: string,
  options: { readonly timeoutMs?: number; readonly everyMs?: number } = {},
): Promise<NonNullable<T>> {
  const { timeoutMs = 10_000, everyMs = 20 } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await probe();
    if (answer) return answer;
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await delay(everyMs);
  }
}

/** Waits until every one of `pids` has ended. */
export async function waitUntilEnded(
  pids: readonly number[],
  options: { readonly timeoutMs?: number } = {},
): Promise<void> {
  await waitUntil(() => !pids.some(isAlive), `the end of ${pids.join(', ')}`, options);
}

function isDead({ state }: ProcessStat): boolean {
  return state === 'Z' || state === 'X';
}

function childStats(parent: number): ProcessStat[] {
  return allPids().flatMap((pid) => {
    const stat = processStat(pid);
    return stat?.parent === parent ? [stat] : [];
  });
}

function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined; // it has ended, or is another user's
  }
}
