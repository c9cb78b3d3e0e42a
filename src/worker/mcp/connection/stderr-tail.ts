import { printable } from '../../../shared/printable.ts';
import { lastBytes } from './text-bytes.ts';

/** The last lines of a server's stderr, bounded in lines and bytes. Blank lines are left out: they tell nothing. */
export class StderrTail {
  readonly #maxLines: number;
  readonly #maxBytes: number;
  readonly #lines: string[] = [];

  constructor(maxLines: number, maxBytes: number) {
    this.#maxLines = maxLines;
    this.#maxBytes = maxBytes;
  }

  push(line: string): void {
    if (line.trim() === '') return;
    this.#lines.push(line);
    if (this.#lines.length > this.#maxLines) this.#lines.shift();
  }

  /** Control characters escaped, newlines kept. `unfinished` is a last line without its newline. */
  text(unfinished = ''): string {
    const lines = unfinished.trim() === '' ? this.#lines : [...this.#lines, unfinished].slice(-this.#maxLines);
    return lastBytes(printable(lines.join('\n').trimEnd(), { keepNewlines: true }), this.#maxBytes);
  }
}
