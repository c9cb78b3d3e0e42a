/** An answer is not kept longer than this, however long the turn is. */
const LONGEST_WAIT_MS = 1;

/** Work that is put off to the end of the event loop's turn, so that what belongs together is done once. */
export class TurnEnd {
  readonly #waiting = new Set<() => void>();
  #scheduled: NodeJS.Immediate | undefined;
  #since = 0;

  /** The same work again in one turn is done once. */
  readonly defer = (work: () => void): void => {
    const now = performance.now();
    if (this.#waiting.size === 0) this.#since = now;
    this.#waiting.add(work);
    if (now - this.#since >= LONGEST_WAIT_MS) this.run();
    else this.#scheduled ??= setImmediate(() => this.run());
  };

  /** Does now what waits. A thread that exits has no end of a turn. */
  run(): void {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const work of waiting) work();
  }
}
