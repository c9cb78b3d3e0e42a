import { setTimeout as delay } from 'node:timers/promises';
import { familyOf, type ProcessStat } from '../../shared/process-stat.ts';
import type { ThreadNote } from '../../shared/protocol.ts';
import { THREAD_VARIABLE } from '../policy/spawn-policy.ts';
import { GUARD_VARIABLE } from './process-guard.ts';
import { childrenOfThread, ProcessSnapshot, readProcess, workersHaveChildren } from './process-list.ts';

export interface TrackedProcess {
  readonly pid: number;
  /** Start time in clock ticks since boot, so that a reused pid is not mistaken for ours; `undefined` outside Linux. */
  readonly start: number | undefined;
  readonly group: boolean;
  readonly server?: string;
  readonly sessionId?: string;
}

/** After SIGKILL a process is gone in milliseconds, unless the kernel holds it. */
const END_MS = 2000;
const POLL_MS = 10;

export interface ThreadProcessesOptions {
  /** In the environment of everything the thread starts. */
  readonly mark: string;
  /** The kernel's id of the thread; 0 while it is not known. */
  readonly threadId: () => number;
  readonly onStarted: (pid: number, start: number | undefined) => void;
  readonly onEnded: (pid: number) => void;
}

/**
 * The processes of one thread: those it has told about, and at its end those that can be found: its children, what they
 * started, their groups and sessions, and whatever carries the thread's mark, wherever it is.
 */
export class ThreadProcesses {
  readonly #options: ThreadProcessesOptions;
  readonly #told = new Map<number, TrackedProcess>();
  /** Seen while they could be found by their parent; an orphan cannot any more. */
  readonly #seen = new Map<number, number>();

  constructor(options: ThreadProcessesOptions) {
    this.#options = options;
  }

  get running(): readonly TrackedProcess[] {
    return [...this.#told.values()];
  }

  /** False when nothing can be its: looking around costs more. */
  get mayHaveAny(): boolean {
    return this.#told.size > 0 || this.#seen.size > 0 || workersHaveChildren();
  }

  note({ pid, group, state, start, server, sessionId }: Extract<ThreadNote, { type: 'process' }>): void {
    if (state === 'exited') {
      if (this.#told.delete(pid)) this.#options.onEnded(pid);
      return;
    }
    const tracked = {
      pid,
      group,
      start: start ?? readProcess(pid)?.start,
      ...(server === undefined ? {} : { server }),
      ...(sessionId === undefined ? {} : { sessionId }),
    };
    this.#told.set(pid, tracked);
    this.#options.onStarted(pid, tracked.start);
  }

  /** Looks at everything there is now, so that it is still found when its parents are gone. */
  async survey(): Promise<readonly ProcessStat[]> {
    const snapshot = await ProcessSnapshot.take();
    const { mark, threadId } = this.#options;
    const marked = await snapshot.withEntry(`${THREAD_VARIABLE}=${mark}`);
    const byPid = new Map(snapshot.processes.map((stat) => [stat.pid, stat]));
    const roots = new Set([...childrenOfThread(threadId()), ...marked.map(({ stat }) => stat.pid)]);
    for (const { pid, start } of this.#told.values()) {
      const now = byPid.get(pid);
      // The leader may be gone while its group lives: only a pid with another start time is somebody else's.
      if (now === undefined || now.start === start) roots.add(pid);
    }
    for (const [pid, start] of this.#seen) if (byPid.get(pid)?.start === start) roots.add(pid);
    const family = familyOf(snapshot.processes, roots).filter(
      // The guard of a host inside an extension cleans up after that host, and then ends by itself.
      ({ pid, zombie }) => !zombie && pid !== process.pid && !snapshot.environmentOf(pid).includes(GUARD_VARIABLE),
    );
    for (const { pid, start } of family) this.#seen.set(pid, start);
    return family;
  }

  /**
   * Ends everything. `reapWithinMs`: how long the thread, which lives and runs, is given to reap its children; 0 for one that
   * does not. Never rejects.
   */
  async end(reapWithinMs: number): Promise<void> {
    const startedAt = performance.now();
    for (;;) {
      const family = await this.survey();
      this.#killTold();
      for (const { pid, start } of family) if (readProcess(pid)?.start === start) kill(pid);
      if (family.length === 0 || performance.now() - startedAt > END_MS) break;
      await delay(POLL_MS);
    }
    const reapedBy = performance.now() + reapWithinMs;
    while (performance.now() < reapedBy && this.#isToReap) await delay(POLL_MS);
  }

  /** The children of a thread inside of this one are the process's, and not this thread's. */
  get #isToReap(): boolean {
    if (childrenOfThread(this.#options.threadId()).length > 0) return true;
    return [...this.#seen].some(([pid, start]) => {
      const now = readProcess(pid);
      return now?.start === start && now.parent === process.pid;
    });
  }

  /** The thread is gone, and with it what it was told of. */
  forget(): void {
    for (const pid of this.#told.keys()) this.#options.onEnded(pid);
    this.#told.clear();
    this.#seen.clear();
  }

  /** Where nothing can be found by looking (there is no /proc), what was told has to do. */
  #killTold(): void {
    if (process.platform === 'linux') return;
    for (const { pid, group } of this.#told.values()) kill(group ? -pid : pid);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}
