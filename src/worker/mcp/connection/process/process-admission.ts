import { abortError } from '../../../../shared/errors.ts';

/** A process that is in use for less than this is not taken away from its session. */
const LEAST_IDLE_MS = 30_000;
const LOOK_AGAIN_MS = 500;

/** A process that was let in, as those who wait see it. */
export interface AdmittedProcess {
  /** `performance.now()` of the end of its last call; `undefined` while it is in use. */
  idleSince(): number | undefined;
  /** Somebody needs its place more: ends it. */
  giveUp(): void;
}

interface Waiter {
  readonly admit: () => void;
}

/**
 * Holds the number of server processes. Over the limit the one that has been idle for the longest is ended, if it has been so
 * for 30 s; else whoever asks waits, first come first served, for as long as it wants to.
 */
export class ProcessAdmission {
  readonly #leastIdleMs: number;
  readonly #inside = new Map<object, AdmittedProcess>();
  readonly #leaving = new Set<object>();
  readonly #waiting: Waiter[] = [];
  #limit: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(limit: number, leastIdleMs = LEAST_IDLE_MS) {
    this.#limit = limit;
    this.#leastIdleMs = leastIdleMs;
  }

  get inside(): number {
    return this.#inside.size;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** A lower one ends nothing; it lets nobody in until enough have left. */
  setLimit(limit: number): void {
    this.#limit = limit;
    this.#admitNext();
  }

  /**
   * Resolves with the function that gives the place back, to be called when nothing of the process is left.
   * @throws ABORTED
   */
  enter(candidate: AdmittedProcess, signal: AbortSignal, what: string): Promise<() => void> {
    if (signal.aborted) return Promise.reject(abortError(what, signal));
    const place = {};
    const letIn = (): (() => void) => {
      this.#inside.set(place, candidate);
      return () => this.#leave(place);
    };
    if (this.#waiting.length === 0 && this.#inside.size < this.#limit) return Promise.resolve(letIn());
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(abortError(what, signal));
      };
      const waiter: Waiter = {
        admit: () => {
          signal.removeEventListener('abort', onAbort);
          resolve(letIn());
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiter);
      this.#makeRoom();
    });
  }

  #leave(place: object): void {
    this.#inside.delete(place);
    this.#leaving.delete(place);
    this.#admitNext();
  }

  #admitNext(): void {
    while (this.#inside.size < this.#limit) {
      const next = this.#waiting.shift();
      if (!next) return;
      next.admit();
    }
  }

  #makeRoom(): void {
    clearTimeout(this.#timer);
    if (this.#waiting.length === 0) return;
    const latest = performance.now() - this.#leastIdleMs;
    const idle = [...this.#inside]
      .filter(([place]) => !this.#leaving.has(place))
      .map(([place, admitted]) => ({ place, admitted, since: admitted.idleSince() ?? Number.POSITIVE_INFINITY }))
      .filter(({ since }) => since <= latest)
      .sort((a, b) => a.since - b.since);
    for (const { place, admitted } of idle.slice(0, Math.max(0, this.#waiting.length - this.#leaving.size))) {
      this.#leaving.add(place);
      admitted.giveUp();
    }
    // Only while somebody waits: nothing else has to tell that it has become idle.
    this.#timer = setTimeout(() => this.#makeRoom(), LOOK_AGAIN_MS).unref();
  }
}
