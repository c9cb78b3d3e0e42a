/** The most messages that travel as one. */
export const MAX_BATCH = 64;

/** Messages that were posted in one turn of an event loop, in their order. */
export interface Batch {
  readonly batch: readonly unknown[];
}

/** Runs `flush` when the messages of this turn are together: soon, and before the thread ends. */
export type Defer = (flush: () => void) => void;

export function isBatch(message: unknown): message is Batch {
  if (typeof message !== 'object' || message === null || !('batch' in message)) return false;
  return Array.isArray(message.batch) && message.batch.length <= MAX_BATCH;
}

/**
 * Posts the messages of a turn together. Each message that arrives wakes the other thread, and with many calls in flight
 * that costs it more than the messages themselves.
 */
export class PostQueue {
  readonly #post: (message: unknown) => void;
  readonly #defer: Defer;
  readonly #onUnsendable: (message: unknown, error: unknown) => void;
  readonly #flush = (): void => this.flush();
  #waiting: unknown[] = [];

  /** `onUnsendable` is told of a message that cannot be cloned; those around it are sent all the same. */
  constructor(
    post: (message: unknown) => void,
    defer: Defer,
    onUnsendable: (message: unknown, error: unknown) => void,
  ) {
    this.#post = post;
    this.#defer = defer;
    this.#onUnsendable = onUnsendable;
  }

  add(message: unknown): void {
    this.#waiting.push(message);
    if (this.#waiting.length >= MAX_BATCH) this.flush();
    else this.#defer(this.#flush);
  }

  flush(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    try {
      this.#post(waiting.length === 1 ? waiting[0] : ({ batch: waiting } satisfies Batch));
    } catch {
      for (const message of waiting) this.#postAlone(message);
    }
  }

  #postAlone(message: unknown): void {
    try {
      this.#post(message);
    } catch (error) {
      this.#onUnsendable(message, error);
    }
  }
}
