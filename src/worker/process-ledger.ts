import type { ProcessNote } from '../shared/extension-api.ts';
import type { ThreadNote } from '../shared/protocol.ts';

const POLL_MS = 20;

/** The processes an extension has told about. The host gets every change at once, and ends what is left when a thread dies. */
export class ProcessLedger {
  readonly #post: (note: ThreadNote) => void;
  readonly #running = new Map<number, ProcessNote>();

  constructor(post: (note: ThreadNote) => void) {
    this.#post = post;
  }

  track(note: ProcessNote): void {
    const { pid, group, state, server, sessionId } = note;
    if (!Number.isInteger(pid) || pid < 2) throw new TypeError(`track needs the pid of a process, not ${String(pid)}`);
    if (state === 'running') this.#running.set(pid, note);
    else this.#running.delete(pid);
    this.#post({
      type: 'process',
      pid,
      group,
      state,
      ...(server === undefined ? {} : { server }),
      ...(sessionId === undefined ? {} : { sessionId }),
    });
  }

  /** Ends what is left, while this thread can still reap it: killed after its thread, a child stays a zombie. */
  async killAll(timeoutMs: number): Promise<void> {
    for (const { pid, group } of this.#running.values()) kill(pid, group);
    const end = Date.now() + timeoutMs;
    // The extension notes the exits itself, from its own `exit` events.
    while (this.#running.size > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function kill(pid: number, group: boolean): void {
  try {
    process.kill(group ? -pid : pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}
