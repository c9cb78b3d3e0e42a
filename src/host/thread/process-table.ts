import { readFileSync } from 'node:fs';

export interface TrackedProcess {
  readonly pid: number;
  /** Start time in clock ticks since boot, so that a reused pid is not mistaken for ours; `undefined` outside Linux. */
  readonly start: number | undefined;
  readonly group: boolean;
  readonly server?: string;
  readonly sessionId?: string;
}

/** The processes one thread has told about: what lives now, and what to end when the thread dies. */
export class ProcessTable {
  readonly #processes = new Map<number, TrackedProcess>();

  add({ pid, group, server, sessionId }: Omit<TrackedProcess, 'start'>): void {
    this.#processes.set(pid, {
      pid,
      group,
      start: startTime(pid),
      ...(server === undefined ? {} : { server }),
      ...(sessionId === undefined ? {} : { sessionId }),
    });
  }

  remove(pid: number): void {
    this.#processes.delete(pid);
  }

  get running(): readonly TrackedProcess[] {
    return [...this.#processes.values()];
  }

  /** Ends everything that is left, at once. A pid that another process has by now is left alone. */
  killAll(): void {
    for (const { pid, group, start } of this.#processes.values()) {
      const now = startTime(pid);
      const gone = start !== undefined && now === undefined;
      // The leader may be gone while its group lives: only a pid with another start time is somebody else's.
      if (gone ? !group : now !== start) continue;
      try {
        process.kill(group ? -pid : pid, 'SIGKILL');
      } catch {
        // It is gone already.
      }
    }
    this.#processes.clear();
  }
}

/** Field 22 of /proc/<pid>/stat. */
export function startTime(pid: number | 'self'): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[19]);
  } catch {
    return undefined;
  }
}

/** Resident memory in MB; 0 when it cannot be read. */
export function rssMb(pid: number): number {
  try {
    const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Math.round(Number(kb ?? 0) / 1024);
  } catch {
    return 0;
  }
}
