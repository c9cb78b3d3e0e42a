import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ProcessStat, parseProcessStat } from '../../shared/process-stat.ts';

/** Reading one file of /proc takes 10–50 µs: after so many the main loop gets its turn. */
const READS_PER_TURN = 40;

/** True while any thread but main's has children: they may belong to a thread inside of another. */
export function workersHaveChildren(): boolean {
  return threadsOfProcess().some((id) => id !== process.pid && childrenOfThread(id).length > 0);
}

function threadsOfProcess(): readonly number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [];
  }
}

/** One process as it is now; nothing where there is no /proc. */
export function readProcess(pid: number | 'self'): ProcessStat | undefined {
  const text = readProc(`${pid}/stat`);
  return text === undefined ? undefined : parseProcessStat(text);
}

/** Living children of one thread of this process: a child is listed under the thread that started it. */
export function childrenOfThread(threadId: number): readonly number[] {
  if (threadId === 0) return [];
  return (readProc(`self/task/${threadId}/children`) ?? '').split(' ').filter(Boolean).map(Number);
}

/** The number of the pid namespace a process lives in; a pid means nothing in another one. Empty where it is not told. */
export function pidNamespace(pid: number | 'self' = 'self'): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`).replaceAll(/\D/g, '');
  } catch {
    return '';
  }
}

/** Resident memory in MB; 0 when it cannot be read. */
export function rssMb(pid: number): number {
  const kb = /VmRSS:\s+(\d+)/.exec(readProc(`${pid}/status`) ?? '')?.[1];
  return Math.round(Number(kb ?? 0) / 1024);
}

/** Every process of the machine that can be seen, read in pieces so that the main loop goes on meanwhile. */
export class ProcessSnapshot {
  readonly processes: readonly ProcessStat[];
  readonly #environments = new Map<number, string>();

  private constructor(processes: readonly ProcessStat[]) {
    this.processes = processes;
  }

  /** One snapshot serves everybody who asks while it is being taken: threads of a host end together. */
  static take(): Promise<ProcessSnapshot> {
    shared ??= ProcessSnapshot.#read().finally(() => {
      shared = undefined;
    });
    return shared;
  }

  static async #read(): Promise<ProcessSnapshot> {
    const processes: ProcessStat[] = [];
    let reads = 0;
    // Not in the turn of the first who asks: who asks in the same turn wants to see what it has just done.
    await nextTurn();
    for (const name of namesIn('/proc')) {
      const pid = Number(name);
      if (!Number.isInteger(pid)) continue;
      const stat = readProcess(pid);
      if (stat) processes.push(stat);
      if (++reads % READS_PER_TURN === 0) await nextTurn();
    }
    return new ProcessSnapshot(processes);
  }

  /** The living processes whose environment, as it was at their start, has this entry (`NAME=value`) or one that begins so. */
  async withEntry(
    entry: string,
    whole = true,
  ): Promise<readonly { readonly stat: ProcessStat; readonly environment: readonly string[] }[]> {
    const found: { stat: ProcessStat; environment: readonly string[] }[] = [];
    let reads = 0;
    for (const stat of this.processes) {
      if (stat.zombie || stat.pid === process.pid) continue;
      if (!this.#environments.has(stat.pid) && ++reads % READS_PER_TURN === 0) await nextTurn();
      const text = this.environmentOf(stat.pid);
      if (!text.includes(entry)) continue;
      const environment = text.split('\0');
      if (environment.some((one) => (whole ? one === entry : one.startsWith(entry)))) found.push({ stat, environment });
    }
    return found;
  }

  /** Entries separated by NUL; empty for a process of somebody else, and for one that has overwritten it. */
  environmentOf(pid: number): string {
    const known = this.#environments.get(pid);
    if (known !== undefined) return known;
    const text = readProc(`${pid}/environ`) ?? '';
    this.#environments.set(pid, text);
    return text;
  }
}

let shared: Promise<ProcessSnapshot> | undefined;

function readProc(file: string): string | undefined {
  try {
    return readFileSync(`/proc/${file}`, 'latin1');
  } catch {
    return undefined;
  }
}

/** Empty where there is no /proc. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
