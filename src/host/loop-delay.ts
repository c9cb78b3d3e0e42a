import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 10;

/** How late the main loop was since the last reading. */
export class LoopDelay {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#histogram.enable();
  }

  /** Reads and starts anew. */
  read(): { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number } {
    const delay = { p50Ms: this.#late(50), p99Ms: this.#late(99), maxMs: toLateness(this.#histogram.max) };
    this.#histogram.reset();
    return delay;
  }

  stop(): void {
    this.#histogram.disable();
  }

  #late(percentile: number): number {
    return toLateness(this.#histogram.percentile(percentile));
  }
}

/** The histogram has the time between two ticks, in nanoseconds; a punctual one is the resolution. */
function toLateness(nanoseconds: number): number {
  const late = nanoseconds / 1e6 - RESOLUTION_MS;
  return Number.isFinite(late) ? Math.max(0, Math.round(late * 10) / 10) : 0;
}
