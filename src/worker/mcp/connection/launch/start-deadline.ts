import { abortError } from '../../../../shared/errors.ts';

/** The start took longer than it may. */
export class StartTimeoutError extends Error {
  override readonly name = 'StartTimeoutError';
}

/** Bounds a start by time and by a signal; leaves no listener on the signal. */
export class StartDeadline {
  /** Rejects when time is up or the signal fires; else it stays open. */
  readonly over: Promise<never>;
  readonly #clear: () => void;
  #failure: Error | undefined;

  constructor(what: string, timeoutMs: number, signal: AbortSignal | undefined) {
    let end: (failure: Error) => void = () => {};
    this.over = new Promise((_resolve, reject) => {
      end = (failure) => {
        this.#failure ??= failure;
        reject(failure);
      };
    });
    // Whoever races it handles it; nobody has to.
    this.over.catch(() => {});
    const onAbort = () => end(abortError(what, signal ?? { reason: undefined }));
    const timer = setTimeout(() => end(new StartTimeoutError(what)), timeoutMs);
    this.#clear = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
  }

  /** Between two steps: goes no further when it is over. */
  check(): void {
    if (this.#failure) throw this.#failure;
  }

  clear(): void {
    this.#clear();
  }
}
