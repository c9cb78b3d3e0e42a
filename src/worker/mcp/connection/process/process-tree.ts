import { execFile } from 'node:child_process';
import { listProcesses, type ProcessEntry, readChildren, readProcess } from './process-list.ts';

const SEEN_BEFORE_CLEARING = 256;

/**
 * What one process started, also in groups and sessions of their own (a browser has one). A child whose parent has ended is
 * no longer found by its parent, so the tree remembers what it has seen; start times guard against reused pids.
 */
export class ProcessTree {
  readonly #root: number;
  readonly #seen = new Map<number, ProcessEntry>();
  #rootEnded = false;

  constructor(root: number) {
    this.#root = root;
  }

  /** Notes the descendants there are now, cheaply; misses what was orphaned before. */
  observe(): void {
    if (this.#rootEnded) return;
    const open = [this.#root];
    for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
      for (const child of readChildren(pid)) {
        open.push(child);
        // Also one that was seen: the pid may have been used again.
        this.#note(readProcess(child));
      }
    }
    // A server that runs a command for each call would fill it up.
    if (this.#seen.size > SEEN_BEFORE_CLEARING) this.living();
  }

  /** Notes every descendant, and every member of the groups and sessions that the root and its descendants lead. */
  survey(fresh = false): void {
    const open = this.living().map(({ pid }) => pid);
    if (!this.#rootEnded) open.push(this.#root);
    if (open.length === 0) return;
    const byPid = new Map<number, ProcessEntry>();
    const children = new Map<number, number[]>();
    const leaders = new Set(open);
    for (const entry of listProcesses(fresh)) {
      byPid.set(entry.pid, entry);
      const siblings = children.get(entry.parent);
      if (siblings) siblings.push(entry.pid);
      else children.set(entry.parent, [entry.pid]);
      if (leaders.has(entry.group) || leaders.has(entry.session)) open.push(entry.pid);
    }
    const walked = new Set<number>();
    for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
      if (walked.has(pid)) continue;
      walked.add(pid);
      this.#note(byPid.get(pid));
      open.push(...(children.get(pid) ?? []));
    }
  }

  /**
   * The root has just been reaped: takes a last look at its group and session. From now on their ids may be reused, so
   * only what has been seen counts.
   */
  rootEnded(): void {
    if (this.#rootEnded) return;
    this.survey(canSignal(-this.#root));
    this.#rootEnded = true;
  }

  /** What has been seen and lives, the root not included. */
  living(): readonly ProcessEntry[] {
    const living: ProcessEntry[] = [];
    for (const [pid, seen] of this.#seen) {
      const now = readProcess(pid);
      if (now?.alive && now.startTime === seen.startTime) living.push(now);
      else this.#seen.delete(pid);
    }
    return living;
  }

  /** Signals the root's group: as one while the root lives, else each member that was seen. */
  signalGroup(signal: NodeJS.Signals): void {
    if (!this.#rootEnded) send(-this.#root, signal);
    else for (const { pid, group } of this.living()) if (group === this.#root) send(pid, signal);
  }

  /** Signals everything that lives but the root. */
  signalDescendants(signal: NodeJS.Signals): void {
    for (const { pid } of this.living()) send(pid, signal);
  }

  groupLives(): boolean {
    return this.living().some(({ group }) => group === this.#root);
  }

  #note(entry: ProcessEntry | undefined): void {
    if (entry?.alive && entry.pid !== this.#root) this.#seen.set(entry.pid, entry);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  if (process.platform === 'win32') {
    // No groups and no mild way there: the whole tree, by force, and only at the last step.
    if (signal === 'SIGKILL') execFile('taskkill', ['/PID', String(Math.abs(pid)), '/T', '/F'], () => {});
    return;
  }
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended, or it has become somebody else's.
  }
}

function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
