import type { Limits } from '../../shared/limits.ts';
import { LOSSY_NOTES } from '../../shared/protocol.ts';

const WINDOW_MS = 1000;
/** The thread keeps its own credit; what exceeds it by so much here has gone past it. */
const LOSSY_SLACK = 2;

/**
 * Counts what one thread sends over all its ports. Lossy ones over the credit are dropped; a thread that posts far more
 * than that, or too many that must not be lost, stands in main's way and is to be ended.
 */
export class InboundMeter {
  readonly #limits: Limits;
  readonly #onFlood: (what: string) => void;
  #windowStart = 0;
  #notes = 0;
  #lossy = 0;
  #bytes = 0;
  #dropped = 0;
  #requests = 0;
  #flooded = false;

  constructor(limits: Limits, onFlood: (what: string) => void) {
    this.#limits = limits;
    this.#onFlood = onFlood;
  }

  /** Lossy notes that were dropped here. */
  get dropped(): number {
    return this.#dropped;
  }

  /** False when the note is to be ignored. */
  admit(note: unknown): boolean {
    if (this.#flooded) return false;
    const { notesPerSecond, losslessNotesPerSecond, losslessBytesPerSecond } = this.#limits;
    const now = performance.now();
    if (now - this.#windowStart >= WINDOW_MS) {
      this.#windowStart = now;
      this.#notes = 0;
      this.#lossy = 0;
      this.#bytes = 0;
    }
    this.#notes += 1;
    if (this.#notes > losslessNotesPerSecond)
      return this.#flood(`more than ${losslessNotesPerSecond} notes in a second`);
    if (isLossy(note)) {
      this.#lossy += 1;
      if (this.#lossy <= notesPerSecond * LOSSY_SLACK) return true;
      this.#dropped += 1;
      return false;
    }
    this.#bytes += roughBytes(note, losslessBytesPerSecond);
    if (this.#bytes > losslessBytesPerSecond)
      return this.#flood(`more than ${losslessBytesPerSecond} bytes of notes in a second`);
    return true;
  }

  /** False when too many host requests are open: the thread queues them itself, so these have gone past its queue. */
  enterRequest(): boolean {
    if (this.#flooded || this.#requests >= this.#limits.hostRequestsQueued) return false;
    this.#requests += 1;
    return true;
  }

  leaveRequest(): void {
    this.#requests -= 1;
  }

  #flood(what: string): false {
    this.#flooded = true;
    this.#onFlood(what);
    return false;
  }
}

function isLossy(note: unknown): boolean {
  return typeof note === 'object' && note !== null && 'type' in note && LOSSY_NOTES.has(String(note.type));
}

/** About what a value takes on the wire; ends early at `enough`. */
function roughBytes(value: unknown, enough: number): number {
  let bytes = 0;
  const open: unknown[] = [value];
  while (open.length > 0 && bytes <= enough) {
    const next = open.pop();
    bytes += 8;
    if (typeof next === 'string') bytes += next.length;
    else if (ArrayBuffer.isView(next)) bytes += next.byteLength;
    else if (Array.isArray(next)) for (const item of next) open.push(item);
    else if (typeof next === 'object' && next !== null) {
      for (const [key, inner] of Object.entries(next)) {
        bytes += key.length;
        open.push(inner);
      }
    }
  }
  return bytes;
}
