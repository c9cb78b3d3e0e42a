import type { Limits } from '../../shared/limits.ts';

export type PulseVerdict = 'fine' | 'late' | 'stalled';

/** How long one thread has been silent, as far as it can be blamed. It is not judged before its first beat. */
export class Pulse {
  readonly #limits: Pick<Limits, 'stallWarnMs' | 'stallMs'>;
  #beats = 0;
  #silentMs = 0;
  #beatSeenAt = performance.now();
  #said: PulseVerdict = 'fine';

  constructor(limits: Pick<Limits, 'stallWarnMs' | 'stallMs'>) {
    this.#limits = limits;
  }

  /** Silence that counts; 0 after a beat. */
  get silentMs(): number {
    return this.#silentMs;
  }

  /** Time since a beat was last seen, whoever is to blame. */
  get beatAgeMs(): number {
    return performance.now() - this.#beatSeenAt;
  }

  /** False for a thread that would not hear what it is asked. */
  get isResponsive(): boolean {
    return this.#silentMs < this.#limits.stallWarnMs;
  }

  /** `countedMs`: the time since the last look, or 0 when it counts against nobody. Each verdict is given once. */
  observe(beats: number, countedMs: number, now: number): PulseVerdict {
    if (beats !== this.#beats) {
      this.#beats = beats;
      this.#silentMs = 0;
      this.#beatSeenAt = now;
      this.#said = 'fine';
      return 'fine';
    }
    if (beats === 0) return 'fine';
    this.#silentMs += countedMs;
    if (this.#said !== 'stalled' && this.#silentMs >= this.#limits.stallMs) return this.#say('stalled');
    if (this.#said === 'fine' && this.#silentMs >= this.#limits.stallWarnMs) return this.#say('late');
    return 'fine';
  }

  #say(verdict: PulseVerdict): PulseVerdict {
    this.#said = verdict;
    return verdict;
  }
}
