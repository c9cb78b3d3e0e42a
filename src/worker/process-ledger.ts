import { readFileSync } from 'node:fs';
import type { ProcessNote } from '../shared/extension-api.ts';
import { type ProcessStat, parseProcessStat } from '../shared/process-stat.ts';
import type { ThreadNote } from '../shared/protocol.ts';

const POLL_MS = 20;
/** How often a group whose leader has ended is asked whether it is empty now. */
const GROUP_POLL_MS = 250;

interface Entry {
  readonly pid: number;
  readonly group: boolean;
  readonly start?: number;
  readonly server?: string;
  readonly sessionId?: string;
}

/**
 * The processes this thread has started, as far as it knows. The host gets every change at once, and ends what is left when
 * the thread dies.
 */
export class ProcessLedger {
  readonly #post: (note: ThreadNote) => void;
  readonly #running = new Map<number, Entry>();
  /** Leaders that have ended while their group lives. */
  readonly #leaderless = new Set<number>();
  #poll: NodeJS.Timeout | undefined;

  constructor(post: (note: ThreadNote) => void) {
    this.#post = post;
  }

  get isEmpty(): boolean {
    return this.#running.size === 0;
  }

  /** What an extension tells of a process. */
  track({ pid, group, state, server, sessionId }: ProcessNote): void {
    if (!Number.isInteger(pid) || pid < 2) throw new TypeError(`track needs the pid of a process, not ${String(pid)}`);
    if (state === 'exited') {
      this.#remove(pid);
      return;
    }
    this.#add({
      pid,
      group,
      ...startOf(readStat(pid)),
      ...(server === undefined ? {} : { server }),
      ...(sessionId === undefined ? {} : { sessionId }),
    });
  }

  /** A child was started; what the extension has said about it itself stays. */
  watch(pid: number): void {
    const stat = readStat(pid);
    const known = this.#running.get(pid);
    if (known && (stat === undefined || known.start === stat.start)) return;
    this.#add({ pid, group: stat?.group === pid, ...startOf(stat) });
  }

  /** A child has ended and is reaped. Its group may go on: then the entry stays until that is empty. */
  left(pid: number): void {
    const entry = this.#running.get(pid);
    if (!entry) return;
    if (!entry.group || !groupLives(pid)) {
      this.#remove(pid);
      return;
    }
    this.#leaderless.add(pid);
    this.#poll ??= setInterval(() => this.#pollGroups(), GROUP_POLL_MS).unref();
  }

  /** Notes the children that were started in this very turn, which nobody has told of. */
  noteAll(): void {
    for (const pid of ownChildren()) if (!this.#running.has(pid)) this.watch(pid);
  }

  /** Ends what is left, while this thread can still reap it: killed after its thread, a child stays a zombie. */
  async killAll(timeoutMs: number): Promise<void> {
    this.noteAll();
    for (const { pid, group } of this.#running.values()) kill(pid, group);
    const end = performance.now() + timeoutMs;
    while (!this.isEmpty && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      // What was not started through `child_process`, or whose extension does not listen, tells nothing of its exit.
      for (const { pid, start } of this.#running.values())
        if (start !== undefined && readStat(pid)?.start !== start) this.left(pid);
      this.#pollGroups();
    }
  }

  #add(entry: Entry): void {
    this.#running.set(entry.pid, entry);
    this.#leaderless.delete(entry.pid);
    this.#post({ type: 'process', state: 'running', ...entry });
  }

  #remove(pid: number): void {
    const entry = this.#running.get(pid);
    if (!entry) return;
    this.#running.delete(pid);
    this.#leaderless.delete(pid);
    this.#post({ type: 'process', pid, group: entry.group, state: 'exited' });
  }

  #pollGroups(): void {
    for (const pid of this.#leaderless) if (!groupLives(pid)) this.#remove(pid);
    if (this.#leaderless.size > 0) return;
    clearInterval(this.#poll);
    this.#poll = undefined;
  }
}

function startOf(stat: ProcessStat | undefined): { readonly start?: number } {
  return stat === undefined ? {} : { start: stat.start };
}

function readStat(pid: number): ProcessStat | undefined {
  try {
    return parseProcessStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Children are listed under the thread that started them. None where there is no /proc. */
function ownChildren(): readonly number[] {
  try {
    return readFileSync('/proc/thread-self/children', 'latin1').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function groupLives(leader: number): boolean {
  try {
    return process.kill(-leader, 0);
  } catch {
    return false;
  }
}

function kill(pid: number, group: boolean): void {
  try {
    process.kill(group ? -pid : pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}
