import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessStat } from '../../shared/process-stat.ts';
import { OWNER_VARIABLE, THREAD_VARIABLE } from '../policy/spawn-policy.ts';
import { ProcessSnapshot, pidNamespace, readProcess } from './process-list.ts';

const TERM_MS = 300;

/** What decides whether a process is a leftover. */
export interface SweepFacts {
  /** The process's environment at its start. */
  readonly environment: readonly string[];
  readonly sameUser: boolean;
  /** Of the process, and of the host that looks. */
  readonly namespace: string;
  readonly ownNamespace: string;
  /** The living process with that pid, here. */
  readonly ownerStart: (pid: number) => number | undefined;
}

/**
 * True for a process of a host that is gone. A pid counts only in the namespace of the host that wrote the mark: the thread's
 * mark begins with it.
 */
export function isLeftover({ environment, sameUser, namespace, ownNamespace, ownerStart }: SweepFacts): boolean {
  if (!sameUser || namespace === '' || namespace !== ownNamespace) return false;
  const owner = entryValue(environment, OWNER_VARIABLE)?.split(':');
  const [pid, start] = [Number(owner?.[0]), Number(owner?.[1])];
  if (owner?.length !== 3 || !Number.isInteger(pid) || pid < 2 || !(start > 0)) return false;
  const written = entryValue(environment, THREAD_VARIABLE)?.split(':')[0];
  if (written !== undefined && written !== ownNamespace) return false;
  return ownerStart(pid) !== start;
}

/**
 * Ends what hosts that were killed have left behind, together with their guards: processes of the same user and pid namespace
 * whose owner is gone. Gives the pids.
 */
export async function sweepLeftovers(): Promise<readonly number[]> {
  if (process.platform !== 'linux') return [];
  const snapshot = await ProcessSnapshot.take();
  const ancestors = ancestorsOf(snapshot.processes);
  const ownNamespace = pidNamespace();
  const found: ProcessStat[] = [];
  for (const { stat, environment } of await snapshot.withEntry(`${OWNER_VARIABLE}=`, false)) {
    const namespace = pidNamespace(stat.pid);
    const facts = { environment, sameUser: isSameUser(stat.pid), namespace, ownNamespace, ownerStart };
    if (!ancestors.has(stat.pid) && isLeftover(facts)) found.push(stat);
  }
  if (found.length === 0) return [];
  for (const stat of found) signal(stat, 'SIGTERM');
  const killAt = performance.now() + TERM_MS;
  while (performance.now() < killAt && found.some(lives)) await delay(20);
  for (const stat of found) signal(stat, 'SIGKILL');
  return found.map(({ pid }) => pid);
}

function ownerStart(pid: number): number | undefined {
  const stat = readProcess(pid);
  return stat === undefined || stat.zombie ? undefined : stat.start;
}

/** A host that was started with the mark of a dead one in its environment ends neither itself nor who started it. */
function ancestorsOf(processes: readonly ProcessStat[]): ReadonlySet<number> {
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]));
  const ancestors = new Set<number>();
  for (let pid: number | undefined = process.pid; pid !== undefined && !ancestors.has(pid); pid = parents.get(pid)) {
    ancestors.add(pid);
  }
  return ancestors;
}

function isSameUser(pid: number): boolean {
  try {
    return statSync(`/proc/${pid}`).uid === process.getuid?.();
  } catch {
    return false;
  }
}

function lives({ pid, start }: ProcessStat): boolean {
  return ownerStart(pid) === start;
}

function signal(stat: ProcessStat, name: NodeJS.Signals): void {
  if (!lives(stat)) return;
  try {
    process.kill(stat.pid, name);
  } catch {
    // It is gone already.
  }
}

function entryValue(environment: readonly string[], name: string): string | undefined {
  return environment.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
}
