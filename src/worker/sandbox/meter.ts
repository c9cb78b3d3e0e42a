import { readFileSync } from 'node:fs';
import type { SandboxLimits } from '../../shared/sandbox.ts';
import { countGuestTime } from './thread-priority.ts';

/** A turn shorter than this is charged by the clock: asking the kernel costs 10 µs. */
const SHORT_TURN_MS = 2;

/** On the clock a turn may take this many times its CPU: while it runs the thread's heart does not beat, and 5 s of that end the thread. */
const TURN_FACTOR = 2.5;

/** How often a turn is looked at, at least. */
const LOOK_MS = 100;

/** The time one run may take inside the guest: CPU over all its turns, and a wall clock from its start. */
export class Meter {
  readonly #cpuMs: number;
  readonly #deadline: number;
  #usedMs = 0;
  #startedAt = 0;
  #cpuAtStart = 0;
  /** CPU time of this turn that the thread has been told. */
  #countedMs = 0;
  #nextLook = 0;
  #turnEnd = 0;
  /** What stopped it. */
  tripped: 'cpu' | 'wall' | undefined;

  constructor({ cpuMs, callMs }: SandboxLimits) {
    this.#cpuMs = cpuMs;
    this.#deadline = performance.now() + callMs;
  }

  /** Guest code starts to run for this one. */
  begin(): void {
    this.#startedAt = performance.now();
    this.#cpuAtStart = threadCpuMs();
    this.#turnEnd = Math.min(this.#startedAt + TURN_FACTOR * this.#cpuMs, this.#deadline);
    this.#countedMs = 0;
    this.#nextLook = Math.min(this.#startedAt + Math.min(this.#cpuMs - this.#usedMs, LOOK_MS), this.#turnEnd);
  }

  /** Guest code waits. */
  end(): void {
    const wallMs = performance.now() - this.#startedAt;
    const turnMs = wallMs < SHORT_TURN_MS ? wallMs : threadCpuMs() - this.#cpuAtStart;
    this.#usedMs += turnMs;
    this.#count(turnMs);
  }

  /** True when the time is up. Asked thousands of times a second. */
  readonly isOver = (): boolean => {
    const now = performance.now();
    if (now < this.#nextLook) return false;
    if (now >= this.#turnEnd) this.tripped ??= now >= this.#deadline ? 'wall' : 'cpu';
    const turnMs = threadCpuMs() - this.#cpuAtStart;
    this.#count(turnMs);
    const leftMs = this.#cpuMs - this.#usedMs - turnMs;
    if (leftMs <= 0) this.tripped ??= 'cpu';
    // Other threads had the core meanwhile.
    this.#nextLook = Math.min(now + Math.min(Math.max(1, leftMs), LOOK_MS), this.#turnEnd);
    return this.tripped !== undefined;
  };

  #count(turnMs: number): void {
    countGuestTime(turnMs - this.#countedMs);
    this.#countedMs = turnMs;
  }
}

/** CPU time of the calling thread; elsewhere than on Linux the clock stands in, which counts at least as much. */
function threadCpuMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
}
