/** What a thread tells of itself without a message: a few words of memory that the main thread can read at any time. */
export interface Vitals {
  /** Beats so far; one that stays the same means that the thread does not come back to its event loop. */
  readonly beats: number;
  readonly heapKb: number;
  /** Buffers and what else lives outside of V8's heap; V8 itself does not limit it. */
  readonly externalKb: number;
  /** The kernel's id of the thread, 0 where it is not told: its children are listed under it. */
  readonly threadId: number;
  /** Lossy notes that the thread has dropped because they were over its credit. */
  readonly droppedNotes: number;
}

const BEATS = 0;
const HEAP_KB = 1;
const EXTERNAL_KB = 2;
const THREAD_ID = 3;
const DROPPED_NOTES = 4;
const WORDS = 5;

/** The memory behind one thread's {@link Vitals}; it goes to the thread with its start. */
export function createVitals(): SharedArrayBuffer {
  return new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT);
}

export function readVitals(memory: SharedArrayBuffer): Vitals {
  const words = new Int32Array(memory);
  return {
    beats: Atomics.load(words, BEATS),
    heapKb: Atomics.load(words, HEAP_KB),
    externalKb: Atomics.load(words, EXTERNAL_KB),
    threadId: Atomics.load(words, THREAD_ID),
    droppedNotes: Atomics.load(words, DROPPED_NOTES),
  };
}

/** The thread's side. */
export class VitalsWriter {
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  setThreadId(id: number): void {
    Atomics.store(this.#words, THREAD_ID, id);
  }

  /** Says that the thread runs. */
  beat(): void {
    Atomics.add(this.#words, BEATS, 1);
  }

  setMemory(heapBytes: number, externalBytes: number): void {
    Atomics.store(this.#words, HEAP_KB, Math.ceil(heapBytes / 1024));
    Atomics.store(this.#words, EXTERNAL_KB, Math.ceil(externalBytes / 1024));
  }

  countDropped(): void {
    Atomics.add(this.#words, DROPPED_NOTES, 1);
  }
}
