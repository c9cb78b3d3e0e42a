import { printable } from '../../../../shared/printable.ts';

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

  /**
   * Control characters escaped, newlines kept; whole lines only: it is redacted later, and half a secret at its beginning
   * would be no match. `unfinished` is a last line without its newline.
   */
  text(unfinished = ''): string {
    const lines = unfinished.trim() === '' ? this.#lines : [...this.#lines, unfinished].slice(-this.#maxLines);
    const kept: string[] = [];
    let bytes = 0;
    for (const line of lines.toReversed().map((text) => printable(text.trimEnd()))) {
      bytes += Buffer.byteLength(line) + 1;
      if (bytes > this.#maxBytes + 1) break;
      kept.unshift(line);
    }
    const [last] = lines.slice(-1);
    if (kept.length === 0 && last !== undefined) return `(a line of ${Buffer.byteLength(last)} bytes)`;
    return kept.join('\n');
  }
}
