import { LONGEST_TIMER_MS } from '../../../../shared/longest-timer.ts';

/** The time of one call: a limit that progress renews, within one that nothing renews. */
export class CallClock {
  readonly #callTimeoutMs: number;
  readonly #maxCallMs: number;
  readonly #onExpired: (limitMs: number) => void;
  readonly #endsAt: number;
  #expiresAt: number;
  #timer: NodeJS.Timeout | undefined;
  #cleared = false;
  #holds = 0;

  /** Starts at once. `onExpired` gets the limit that was hit. */
  constructor(callTimeoutMs: number, maxCallMs: number, onExpired: (limitMs: number) => void) {
    const now = performance.now();
    this.#callTimeoutMs = callTimeoutMs;
    this.#maxCallMs = maxCallMs;
    this.#onExpired = onExpired;
    this.#endsAt = now + maxCallMs;
    this.#expiresAt = now + callTimeoutMs;
    this.#arm(now);
  }

  /** Costs next to nothing, however often it is called: the timer looks at the new time when it fires. */
  renew(): void {
    this.#expiresAt = performance.now() + this.#callTimeoutMs;
  }

  /** The server waits for a person: only the longest time counts until the returned function is called. */
  hold(): () => void {
    this.#holds += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      this.renew();
    };
  }

  clear(): void {
    this.#cleared = true;
    clearTimeout(this.#timer);
  }

  #arm(now: number): void {
    const delayMs = Math.min(this.#expiresAt, this.#endsAt) - now;
    this.#timer = setTimeout(() => this.#fire(), Math.min(Math.max(Math.ceil(delayMs), 0), LONGEST_TIMER_MS));
  }

  #fire(): void {
    const now = performance.now();
    if (this.#holds > 0) this.#expiresAt = Math.max(this.#expiresAt, now + this.#callTimeoutMs);
    if (now < Math.min(this.#expiresAt, this.#endsAt)) {
      this.#arm(now);
      return;
    }
    // After a stall timers run before input is read, and the answer may be in the pipe.
    setImmediate(() => {
      if (!this.#cleared) this.#onExpired(this.#endsAt <= this.#expiresAt ? this.#maxCallMs : this.#callTimeoutMs);
    });
  }
}
