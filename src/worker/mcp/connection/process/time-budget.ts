/** Lets synchronous work take a share of the time, with a reserve that fills up while it rests. */
export class TimeBudget {
  readonly #share: number;
  readonly #reserveMs: number;
  #leftMs: number;
  #countedAt = performance.now();

  constructor(share: number, reserveMs: number) {
    this.#share = share;
    this.#reserveMs = reserveMs;
    this.#leftMs = reserveMs;
  }

  /** 0 when the work may be done now. */
  waitMs(): number {
    const now = performance.now();
    this.#leftMs = Math.min(this.#reserveMs, this.#leftMs + (now - this.#countedAt) * this.#share);
    this.#countedAt = now;
    return this.#leftMs > 0 ? 0 : Math.ceil(-this.#leftMs / this.#share) + 1;
  }

  spend(work: () => void): void {
    const startedAt = performance.now();
    work();
    this.#leftMs -= performance.now() - startedAt;
  }
}
