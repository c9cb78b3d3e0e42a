/** What is kept of a line over the cap, at each end: enough to find the id of the answer it was. */
export const KEPT_BYTES = 4 * 1024;

const FIRST_CAPACITY_BYTES = 64 * 1024;
/** A buffer that one long line has grown beyond this is let go after it. */
const RETAINED_CAPACITY_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** A line over the cap, of which only the ends are left. */
export interface LongLine {
  readonly head: string;
  readonly tail: string;
  readonly bytes: number;
}

export interface FramerEvents {
  /** One line without its end (`\n` or `\r\n`); may be empty. */
  readonly line: (text: string) => void;
  readonly tooLong: (line: LongLine) => void;
  /** No newline within two caps; nothing is read after it. Without it the rest of such a line is skipped. */
  readonly flooded?: (bytes: number) => void;
}

/**
 * Cuts a stream of bytes into lines. Linear in bytes however small the chunks are, and never holds more than the cap: the
 * SDK's own reader concatenates and rescans at each chunk (50 MB cost 8.4 s of CPU) and ends the connection at 10 MiB.
 */
export class LineFramer {
  readonly #capBytes: number;
  readonly #events: FramerEvents;
  /** The unfinished line, or, of one over the cap, nothing. */
  #buffer = Buffer.alloc(0);
  #length = 0;
  /** Set while the line is over the cap. */
  #long: { head: Buffer; tail: RollingTail; bytes: number } | undefined;
  #ended = false;

  constructor(capBytes: number, events: FramerEvents) {
    this.#capBytes = capBytes;
    this.#events = events;
  }

  push(chunk: Buffer): void {
    let from = 0;
    while (!this.#ended && from < chunk.length) {
      const at = chunk.indexOf(NEWLINE, from);
      const to = at < 0 ? chunk.length : at;
      if (this.#take(chunk, from, to) && at >= 0) this.#finishLine();
      from = to + 1;
    }
  }

  /** Hands out a last line without a newline. Idempotent. */
  end(): void {
    if (!this.#ended && (this.#length > 0 || this.#long)) this.#finishLine();
    this.#ended = true;
  }

  /** The line that has not ended yet, as far as it is kept. */
  get unfinished(): string {
    return this.#long ? decode(this.#long.head, this.#long.head.length) : decode(this.#buffer, this.#length);
  }

  /** @returns False when that was too much. */
  #take(chunk: Buffer, from: number, to: number): boolean {
    if (this.#long === undefined) {
      if (this.#length + (to - from) <= this.#capBytes) {
        this.#append(chunk, from, to);
        return true;
      }
      this.#turnLong(chunk, from, to);
    } else {
      this.#long.tail.push(chunk, from, to);
      this.#long.bytes += to - from;
    }
    const bytes = this.#long?.bytes ?? 0;
    if (!this.#events.flooded || bytes <= 2 * this.#capBytes) return true;
    this.#ended = true;
    this.#long = undefined;
    this.#events.flooded(bytes);
    return false;
  }

  #turnLong(chunk: Buffer, from: number, to: number): void {
    const fromBuffer = Math.min(this.#length, KEPT_BYTES);
    const missing = Math.min(KEPT_BYTES - fromBuffer, to - from);
    const head = Buffer.concat([this.#buffer.subarray(0, fromBuffer), chunk.subarray(from, from + missing)]);
    const tail = new RollingTail();
    tail.push(this.#buffer, 0, this.#length);
    tail.push(chunk, from, to);
    this.#long = { head, tail, bytes: this.#length + (to - from) };
    this.#reset();
  }

  #finishLine(): void {
    const long = this.#long;
    if (long) {
      this.#long = undefined;
      this.#events.tooLong({ head: decode(long.head, long.head.length), tail: long.tail.text(), bytes: long.bytes });
      return;
    }
    const ended =
      this.#length > 0 && this.#buffer[this.#length - 1] === CARRIAGE_RETURN ? this.#length - 1 : this.#length;
    const text = decode(this.#buffer, ended);
    this.#reset();
    this.#events.line(text);
  }

  #append(chunk: Buffer, from: number, to: number): void {
    const needed = this.#length + (to - from);
    if (needed > this.#buffer.length) {
      // Doubling keeps the copying linear; a list of chunks would cost a hundred bytes for each byte of a slow drip.
      const grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2, FIRST_CAPACITY_BYTES));
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    }
    chunk.copy(this.#buffer, this.#length, from, to);
    this.#length = needed;
  }

  #reset(): void {
    this.#length = 0;
    if (this.#buffer.length > RETAINED_CAPACITY_BYTES) this.#buffer = Buffer.alloc(0);
  }
}

/** The last bytes of a stream; compacts once per KEPT_BYTES, so that single bytes stay cheap. */
class RollingTail {
  readonly #buffer = Buffer.allocUnsafe(2 * KEPT_BYTES);
  #length = 0;

  push(chunk: Buffer, from: number, to: number): void {
    const start = Math.max(from, to - KEPT_BYTES);
    if (this.#length + (to - start) > this.#buffer.length) {
      const kept = Math.min(this.#length, KEPT_BYTES);
      this.#buffer.copyWithin(0, this.#length - kept, this.#length);
      this.#length = kept;
    }
    this.#length += chunk.copy(this.#buffer, this.#length, start, to);
  }

  text(): string {
    return this.#buffer.toString('utf8', Math.max(0, this.#length - KEPT_BYTES), this.#length);
  }
}

function decode(buffer: Buffer, length: number): string {
  const text = buffer.toString('utf8', 0, length);
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
