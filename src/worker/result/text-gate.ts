import type { Limits } from '../../shared/limits.ts';

/**
 * The text of one result, held to the caps while it is collected. It is cut here at a cap plus `overlapBytes`, so that the
 * host can still see a secret that lies on the edge, and cut finally there. Totals are those of the whole text.
 */
export class TextGate {
  readonly #limits: Limits;
  readonly #overlapBytes: number;
  #roomBytes: number;
  #roomLines: number;
  #over = false;
  lines = 0;
  bytes = 0;

  constructor(limits: Limits, overlapBytes: number) {
    this.#limits = limits;
    this.#overlapBytes = overlapBytes;
    this.#roomBytes = limits.textBytes;
    this.#roomLines = limits.textLines;
  }

  /** Takes the next text block; gives what of it may cross, `undefined` when nothing does. */
  admit(text: string): string | undefined {
    const bytes = Buffer.byteLength(text);
    const lines = countLines(text);
    this.bytes += bytes;
    this.lines += lines;
    if (this.#over) return undefined;
    if (bytes <= this.#roomBytes && lines <= this.#roomLines) {
      this.#roomBytes -= bytes;
      this.#roomLines -= lines;
      return text;
    }
    this.#over = true;
    const atLines = endOfLines(text, this.#roomLines);
    const head = atLines === undefined ? text : text.slice(0, atLines);
    const headBytes = Math.min(Buffer.byteLength(head), this.#roomBytes);
    return cutBytes(text, headBytes + this.#overlapBytes);
  }

  get truncated(): boolean {
    return this.bytes > this.#limits.textBytes || this.lines > this.#limits.textLines;
  }
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** Where the first `count` lines end; `undefined` when there are no more than that. */
function endOfLines(text: string, count: number): number | undefined {
  if (count <= 0) return 0;
  let left = count;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    left -= 1;
    if (left === 0) return at;
  }
  return undefined;
}

/** The longest head of at most `maxBytes` that ends on a character. */
function cutBytes(text: string, maxBytes: number): string {
  // A character is at least a byte: no more than this much is ever encoded, however long the text is.
  const bytes = Buffer.from(text.slice(0, maxBytes), 'utf8');
  if (bytes.length <= maxBytes) return text.slice(0, maxBytes);
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
