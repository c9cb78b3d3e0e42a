const WINDOW_MS = 1000;

/** Lets so many lines a second through and says afterwards, once a second, how many it did not. */
export class LogRate {
  readonly #linesPerSecond: number;
  readonly #write: (line: string) => void;
  #windowStart = Number.NEGATIVE_INFINITY;
  #written = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(linesPerSecond: number, write: (line: string) => void) {
    this.#linesPerSecond = linesPerSecond;
    this.#write = write;
  }

  /** True when the line will be written; asked first, so that a dropped line costs nothing more. */
  admit(): boolean {
    const now = performance.now();
    if (now - this.#windowStart >= WINDOW_MS) {
      this.#report();
      this.#windowStart = now;
      this.#written = 0;
    }
    if (this.#written < this.#linesPerSecond) {
      this.#written += 1;
      return true;
    }
    this.#dropped += 1;
    this.#timer ??= setTimeout(() => this.#report(), WINDOW_MS).unref();
    return false;
  }

  /** Tells what is still untold. */
  end(): void {
    this.#report();
  }

  #report(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#dropped === 0) return;
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#write(`${dropped} lines dropped`);
  }
}
