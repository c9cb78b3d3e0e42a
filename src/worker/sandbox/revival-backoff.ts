import { setTimeout as delay } from 'node:timers/promises';

/** Before the first guest that follows a stopped one, before the second, and so on; the last one stays. */
const WAITS_MS = [0, 0, 250, 1000];

/** After so long without a revival the count begins anew. */
const FORGIVEN_MS = 10_000;

/**
 * Slows down a session whose guests are stopped again and again. Each of them leaves a linear memory to the collector of the
 * whole process, whose threads then compete with everything that behaves.
 */
export class RevivalBackoff {
  #revivals = 0;
  #last = Number.NEGATIVE_INFINITY;

  /** Before a guest is made in the place of a stopped one. Ends early when the session does. */
  async wait(signal: AbortSignal): Promise<void> {
    if (performance.now() - this.#last > FORGIVEN_MS) this.#revivals = 0;
    const waitMs = WAITS_MS[Math.min(this.#revivals, WAITS_MS.length - 1)] ?? 0;
    this.#revivals += 1;
    if (waitMs > 0) await delay(waitMs, undefined, { signal }).catch(() => {});
    this.#last = performance.now();
  }
}
