import { readlinkSync } from 'node:fs';
import { clearInterval, setInterval } from 'node:timers';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Limits } from '../shared/limits.ts';
import type { VitalsWriter } from '../shared/vitals.ts';

const MB = 1024 * 1024;
/** From half the limit on, memory is looked at so often: a thread can allocate a gigabyte a second. */
const CLOSE_LOOK_MS = 25;
const CLOSE_LOOK_SHARE = 0.5;
/** Of the time, what collections of our own may take. */
const COLLECT_PAUSE_FACTOR = 2;

/**
 * Beats from the thread's event loop: a thread that spins, waits or is stopped no longer does, and the host sees it. The
 * timer keeps no thread alive. Timers are imported, not global: an extension may replace the globals.
 * `apartBytes`: external memory that is held to a limit of its own (the sandbox's machines).
 */
export function startHeartbeat(vitals: VitalsWriter, limits: Limits, apartBytes: () => number = () => 0): void {
  vitals.setThreadId(kernelThreadId());
  const memory = new MemoryGauge(vitals, limits.softMemoryMb * MB, apartBytes);
  let close: NodeJS.Timeout | undefined;
  const look = (): void => {
    const isClose = memory.measure() > limits.softMemoryMb * MB * CLOSE_LOOK_SHARE;
    if (isClose) close ??= setInterval(look, CLOSE_LOOK_MS).unref();
    else if (close) {
      clearInterval(close);
      close = undefined;
    }
  };
  const beat = (): void => {
    vitals.beat();
    look();
  };
  beat();
  setInterval(beat, limits.heartbeatMs).unref();
}

/** Tells how much memory the thread holds. What is garbage does not count: over the limit it is collected first. */
class MemoryGauge {
  readonly #vitals: VitalsWriter;
  readonly #limitBytes: number;
  readonly #apartBytes: () => number;
  #collect: (() => void) | undefined;
  #collectAgainAt = 0;

  constructor(vitals: VitalsWriter, limitBytes: number, apartBytes: () => number) {
    this.#apartBytes = apartBytes;
    this.#vitals = vitals;
    this.#limitBytes = limitBytes;
  }

  /** @returns Bytes in use, garbage included. */
  measure(): number {
    const used = this.#read();
    if (used <= this.#limitBytes) return used;
    const startedAt = performance.now();
    if (startedAt < this.#collectAgainAt) return used;
    this.#collect ??= exposeCollector();
    this.#collect();
    const endedAt = performance.now();
    this.#collectAgainAt = endedAt + (endedAt - startedAt) * COLLECT_PAUSE_FACTOR;
    return this.#read(true);
  }

  #read(collected = false): number {
    const { used_heap_size: heap, external_memory: all } = getHeapStatistics();
    const external = Math.max(0, all - this.#apartBytes());
    // Above the limit only what a collection has left is told: the host ends the thread for it.
    if (collected || heap + external <= this.#limitBytes) this.#vitals.setMemory(heap, external);
    return heap + external;
  }
}

/** V8's collector without a flag on the command line: it is there in a context that is made while the flag is set. */
function exposeCollector(): () => void {
  setFlagsFromString('--expose-gc');
  try {
    const collect: unknown = runInNewContext('gc');
    return typeof collect === 'function' ? (collect as () => void) : () => {};
  } finally {
    setFlagsFromString('--no-expose-gc');
  }
}

/** `/proc/thread-self` is `<pid>/task/<tid>`; 0 where there is none. */
function kernelThreadId(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  } catch {
    return 0;
  }
}
