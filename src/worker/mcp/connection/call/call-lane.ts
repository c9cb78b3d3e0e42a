import { abortError } from '../../../../shared/errors.ts';

interface Waiter {
  readonly admit: () => void;
  readonly evict: (error: Error) => void;
}

/** Admits calls in order, one at a time or all at once. A call that gives up in the queue is never admitted. */
export class CallLane {
  #width: number;
  readonly #waiting: Waiter[] = [];
  #active = 0;

  constructor(parallel: boolean) {
    this.#width = parallel ? Number.POSITIVE_INFINITY : 1;
  }

  /** Calls that were admitted and have not left. */
  get active(): number {
    return this.#active;
  }

  get isEmpty(): boolean {
    return this.#active === 0 && this.#waiting.length === 0;
  }

  /**
   * Resolves with the function that leaves the lane, to be called once.
   * @throws ExtensionHostError ABORTED, or whatever the lane was cleared with.
   */
  enter(signal: AbortSignal, what: string): Promise<() => void> {
    if (signal.aborted) return Promise.reject(abortError(what, signal));
    if (this.#active < this.#width) {
      this.#active += 1;
      return Promise.resolve(() => this.#leave());
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(abortError(what, signal));
      };
      const waiter: Waiter = {
        admit: () => {
          signal.removeEventListener('abort', onAbort);
          resolve(() => this.#leave());
        },
        evict: (error) => {
          signal.removeEventListener('abort', onAbort);
          reject(error);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiter);
    });
  }

  /** A wider lane lets in who waits; a narrower one lets those leave who are in. */
  setParallel(parallel: boolean): void {
    this.#width = parallel ? Number.POSITIVE_INFINITY : 1;
    while (this.#active < this.#width) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#active += 1;
      next.admit();
    }
  }

  /** Rejects everybody who waits. */
  clear(error: Error): void {
    for (const waiter of this.#waiting.splice(0)) waiter.evict(error);
  }

  #leave(): void {
    const next = this.#active <= this.#width ? this.#waiting.shift() : undefined;
    if (next) next.admit();
    else this.#active -= 1;
  }
}
