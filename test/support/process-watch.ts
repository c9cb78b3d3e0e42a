import { randomUUID } from 'node:crypto';
import { descendantsOf, processesWith } from './processes.ts';

/** Finds the processes that a test starts: by a marker in their environment, and as descendants that were not there before. */
export class ProcessWatch {
  readonly marker = `test-mark-${randomUUID()}`;
  readonly #root: number;
  readonly #before: ReadonlySet<number>;

  constructor(root: number = process.pid) {
    this.#root = root;
    this.#before = new Set(descendantsOf(root));
  }

  /** Those that live now. */
  found(): number[] {
    const below = descendantsOf(this.#root).filter((pid) => !this.#before.has(pid));
    return [...new Set([...processesWith(this.marker), ...below])];
  }
}
