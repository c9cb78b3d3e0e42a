/** What a {@link LineReader} tells. */
export interface LineEvents {
  /** A whole line without its newline; blank ones are left out. */
  line(text: string): void;
  /** A line has grown over the cap: its first bytes. The rest of it is let go unread. */
  tooLong(head: string): void;
}

const HEAD_BYTES = 4096;
const NEWLINE = 10;

/** Cuts a byte stream into lines of at most `maxBytes`. It never holds more than that, however the bytes come in. */
export class LineReader {
  readonly #maxBytes: number;
  readonly #events: LineEvents;
  /** The start of a line that has not ended yet: the first `#length` bytes count. */
  #held: Buffer = Buffer.alloc(0);
  #length = 0;
  #skipping = false;

  constructor(maxBytes: number, events: LineEvents) {
    this.#maxBytes = maxBytes;
    this.#events = events;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#take(chunk.subarray(from, at));
      this.#finish();
      from = at + 1;
    }
    if (from < chunk.length) this.#take(chunk.subarray(from));
  }

  /** The stream has ended: what came after the last newline is a line too. */
  end(): void {
    this.#finish();
  }

  #take(bytes: Buffer): void {
    if (this.#skipping) return;
    if (this.#length + bytes.length > this.#maxBytes) {
      this.#skipping = true;
      this.#append(bytes.subarray(0, Math.max(0, HEAD_BYTES - this.#length)));
      const head = this.#held.toString('utf8', 0, Math.min(this.#length, HEAD_BYTES));
      this.#clear();
      this.#events.tooLong(head);
      return;
    }
    this.#append(bytes);
  }

  /** Grows by doubling: keeping the chunks in a list would cost a hundred bytes for a line that drips in byte by byte. */
  #append(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#held.length) {
      const wider = Buffer.allocUnsafe(Math.max(length, this.#held.length * 2));
      this.#held.copy(wider, 0, 0, this.#length);
      this.#held = wider;
    }
    bytes.copy(this.#held, this.#length);
    this.#length = length;
  }

  #finish(): void {
    const text = this.#skipping ? '' : this.#held.toString('utf8', 0, this.#length);
    this.#skipping = false;
    this.#clear();
    if (text.trim() !== '') this.#events.line(text);
  }

  #clear(): void {
    this.#length = 0;
    // A big line is rare: its memory is given back, that of small ones is used again.
    if (this.#held.length > 64 * 1024) this.#held = Buffer.alloc(0);
  }
}
