import type { Progress } from '../../../../shared/tool.ts';

const INTERVAL_MS = 100;

/** Passes on ten updates a second. The first goes at once, and the last one always goes, if late. */
export class ProgressThrottle {
  readonly #send: (progress: Progress) => void;
  #waiting: Progress | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(send: (progress: Progress) => void) {
    this.#send = send;
  }

  push(progress: Progress): void {
    if (this.#ended) return;
    this.#waiting = progress;
    if (this.#timer === undefined) this.#flush();
  }

  /** Sends what waits; nothing goes after it. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#sendWaiting();
  }

  #flush(): void {
    this.#timer = undefined;
    if (!this.#sendWaiting()) return;
    this.#timer = setTimeout(() => this.#flush(), INTERVAL_MS);
  }

  #sendWaiting(): boolean {
    if (this.#waiting === undefined) return false;
    const progress = this.#waiting;
    this.#waiting = undefined;
    this.#send(progress);
    return true;
  }
}
