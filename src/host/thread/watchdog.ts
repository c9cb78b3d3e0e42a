import { url as inspectorUrl } from 'node:inspector';
import type { Limits } from '../../shared/limits.ts';
import type { Vitals } from '../../shared/vitals.ts';
import { Pulse } from './pulse.ts';

const MB = 1024 * 1024;
const KB_PER_MB = 1024;

/** A thread as the watchdog sees it. */
export interface WatchedThread {
  readonly vitals: () => Vitals;
  /** It has not come back to its event loop for `stallWarnMs`. */
  readonly onLate: (silentMs: number) => void;
  /** For `stallMs`. */
  readonly onStalled: (silentMs: number) => void;
  /** It holds more than `softMemoryMb`. */
  readonly onMemory: (usedMb: number) => void;
}

interface Watch {
  readonly thread: WatchedThread;
  readonly pulse: Pulse;
  /** Of the process's memory, what nobody accounts for, when the thread last beat. */
  unexplainedMb: number;
}

/**
 * Looks at the vitals of every thread of a host, with one timer and no message. A thread is judged only by time in which the
 * main thread itself was punctual: after a main that was busy, a process that was stopped or a machine that slept, nobody is
 * to blame. While a debugger can stop threads there is no judgement at all.
 */
export class Watchdog {
  readonly #limits: Limits;
  readonly #watches = new Set<Watch>();
  #timer: NodeJS.Timeout | undefined;
  #lookedAt = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Gives the pulse, and a function that ends the watch. */
  watch(thread: WatchedThread): { readonly pulse: Pulse; readonly release: () => void } {
    const watch: Watch = { thread, pulse: new Pulse(this.#limits), unexplainedMb: Number.POSITIVE_INFINITY };
    this.#watches.add(watch);
    if (!this.#timer) {
      this.#lookedAt = performance.now();
      this.#timer = setInterval(() => this.#look(), this.#limits.heartbeatMs).unref();
    }
    return {
      pulse: watch.pulse,
      release: () => {
        this.#watches.delete(watch);
        if (this.#watches.size > 0) return;
        clearInterval(this.#timer);
        this.#timer = undefined;
      },
    };
  }

  #look(): void {
    const now = performance.now();
    const elapsedMs = now - this.#lookedAt;
    this.#lookedAt = now;
    // A late look cannot tell a thread that stands still from one that has just been woken with us.
    const countedMs = elapsedMs > this.#limits.heartbeatMs * 2 || inspectorUrl() !== undefined ? 0 : elapsedMs;
    const readings = [...this.#watches].map((watch) => ({ watch, vitals: watch.thread.vitals() }));
    const unexplainedMb = unexplainedMemoryMb(readings.map(({ vitals }) => vitals));
    const silent: Watch[] = [];
    for (const { watch, vitals } of readings) {
      const { thread, pulse } = watch;
      const verdict = pulse.observe(vitals.beats, countedMs, now);
      if (pulse.silentMs === 0) watch.unexplainedMb = unexplainedMb;
      else if (pulse.silentMs > this.#limits.heartbeatMs) silent.push(watch);
      const usedMb = (vitals.heapKb + vitals.externalKb) / KB_PER_MB;
      if (usedMb > this.#limits.softMemoryMb) thread.onMemory(Math.round(usedMb));
      else if (verdict === 'late') thread.onLate(pulse.silentMs);
      else if (verdict === 'stalled') thread.onStalled(pulse.silentMs);
    }
    this.#judgeHidden(silent, unexplainedMb);
  }

  /**
   * A thread that allocates in one long turn cannot say so. When a single one is silent and the process has grown since its
   * last beat by more than it may hold, it is that one. V8 would abort the whole process a little later.
   */
  #judgeHidden(silent: readonly Watch[], unexplainedMb: number): void {
    const [only, ...others] = silent;
    if (!only || others.length > 0) return;
    const grownMb = unexplainedMb - only.unexplainedMb;
    if (grownMb > this.#limits.softMemoryMb) only.thread.onMemory(Math.round(grownMb));
  }
}

/** What the process has in memory beyond what main and its threads say they have. */
function unexplainedMemoryMb(threads: readonly Vitals[]): number {
  const { rss, heapTotal, external } = process.memoryUsage();
  const threadsKb = threads.reduce((sum, { heapKb, externalKb }) => sum + heapKb + externalKb, 0);
  return (rss - heapTotal - external) / MB - threadsKb / KB_PER_MB;
}
