/** So many durations are kept for the percentiles. */
const RING_SIZE = 256;

export interface CallCounters {
  readonly calls: number;
  /** Error replies of ours and error results of the server; aborts are not among them. */
  readonly errors: number;
  /** Starts after the first. */
  readonly restarts: number;
  /** Of the last 256 calls, from the write to the answer; absent before the first answer. */
  readonly p50Ms?: number;
  readonly p95Ms?: number;
}

/** Counts the calls of one connection. */
export class CallStatistics {
  readonly #durationsMs: number[] = [];
  #calls = 0;
  #errors = 0;
  #answers = 0;

  called(): void {
    this.#calls += 1;
  }

  failed(): void {
    this.#errors += 1;
  }

  answered(durationMs: number): void {
    this.#durationsMs[this.#answers % RING_SIZE] = durationMs;
    this.#answers += 1;
  }

  counters(starts: number): CallCounters {
    const sorted = [...this.#durationsMs].sort((a, b) => a - b);
    const at = (share: number) => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
    const percentiles = sorted.length === 0 ? {} : { p50Ms: at(0.5), p95Ms: at(0.95) };
    return { calls: this.#calls, errors: this.#errors, restarts: Math.max(0, starts - 1), ...percentiles };
  }
}
