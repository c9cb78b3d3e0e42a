import type { Limits } from '../shared/limits.ts';

/** Of the second's credit, what can be used at once: a burst at a start passes, and a flood comes in pieces main does not feel. */
const BURST_SHARE = 0.25;
/** Of the burst, what logs leave to progress, notices and status. */
const RESERVED_SHARE = 0.6;

/**
 * What one thread may send of the notes that may be lost: two buckets, of notes and of log bytes, which fill with time.
 * Shared by everything in the thread.
 */
export class NoteCredit {
  readonly #notes: Bucket;
  readonly #logBytes: Bucket;
  readonly #onDropped: () => void;

  constructor(limits: Limits, onDropped: () => void) {
    this.#notes = new Bucket(limits.notesPerSecond);
    this.#logBytes = new Bucket(limits.logBytesPerSecond);
    this.#onDropped = onDropped;
  }

  /** True when a log record of so many bytes may go. A refusal is not counted: the record may wait. */
  takeLog(bytes: number): boolean {
    if (this.#logBytes.level() <= 0 || !this.#notes.take(RESERVED_SHARE)) return false;
    this.#logBytes.spend(bytes);
    return true;
  }

  /** True when another lossy note may go; a refused one is lost and counted. */
  take(): boolean {
    if (this.#notes.take(0)) return true;
    this.dropped();
    return false;
  }

  /** Counts one that is lost. */
  dropped(): void {
    this.#onDropped();
  }
}

class Bucket {
  readonly #perSecond: number;
  readonly #capacity: number;
  #level: number;
  #filledAt = performance.now();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#capacity = Math.max(1, perSecond * BURST_SHARE);
    this.#level = this.#capacity;
  }

  level(): number {
    const now = performance.now();
    this.#level = Math.min(this.#capacity, this.#level + ((now - this.#filledAt) / 1000) * this.#perSecond);
    this.#filledAt = now;
    return this.#level;
  }

  take(reservedShare: number): boolean {
    const level = this.level();
    if (level < 1 || level - 1 < (this.#capacity - 1) * reservedShare) return false;
    this.#level -= 1;
    return true;
  }

  /** May leave a debt, so that a record larger than the bucket passes once in a while. */
  spend(amount: number): void {
    this.#level -= amount;
  }
}
