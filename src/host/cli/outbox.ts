import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

/** Over so many bytes that the client has not read, lossy messages are dropped and replaceable ones are put off. */
const BEHIND_BYTES = 1024 * 1024;

/** How many lossy messages of each method were dropped. */
export type Dropped = Readonly<Record<string, number>>;

export interface OutboxOptions {
  /** The client reads again after messages were dropped. */
  readonly onDropped: (dropped: Dropped) => void;
  /** Nobody reads any more: the other end of the pipe is closed. */
  readonly onGone: () => void;
}

/** Writes one JSON message a line to a client that may read slowly, or not at all. */
export class Outbox {
  readonly #stream: Writable;
  readonly #onDropped: (dropped: Dropped) => void;
  readonly #dropped = new Map<string, number>();
  readonly #putOff = new Map<string, () => object>();
  #gone = false;

  constructor(stream: Writable, { onDropped, onGone }: OutboxOptions) {
    this.#stream = stream;
    this.#onDropped = onDropped;
    stream.on('error', () => {
      if (this.#gone) return;
      this.#gone = true;
      onGone();
    });
    stream.on('drain', () => this.#catchUp());
  }

  /** Bytes the client has not read yet; what the pipe itself holds is not among them. */
  get queuedBytes(): number {
    return this.#stream.writableLength;
  }

  /** Sends a message that must not be lost. @throws what `JSON.stringify` throws */
  send(message: object): void {
    this.#write(JSON.stringify(message));
  }

  /** Sends a message that may be lost: while the client is behind it is counted instead. */
  offer(method: string, message: object): void {
    if (this.queuedBytes <= BEHIND_BYTES) this.send(message);
    else this.#dropped.set(method, (this.#dropped.get(method) ?? 0) + 1);
  }

  /** Sends a message that the next one of the same `key` makes worthless: while the client is behind, only the last is kept. */
  replace(key: string, message: () => object): void {
    if (this.queuedBytes <= BEHIND_BYTES) this.send(message());
    else this.#putOff.set(key, message);
  }

  /** Waits until the client has read everything or is gone. */
  async caughtUp(): Promise<void> {
    if (this.#gone || this.queuedBytes === 0) return;
    // The callback of a write comes after those of all writes before it, and with an error when the stream breaks.
    await new Promise<void>((resolve) => this.#stream.write('', () => resolve()));
  }

  /** The same for at most `timeoutMs`, for the end. */
  async flushed(timeoutMs: number): Promise<void> {
    const late = new AbortController();
    const bound = delay(timeoutMs, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([this.caughtUp(), bound]);
    late.abort();
  }

  #write(text: string): void {
    if (!this.#gone) this.#stream.write(`${text}\n`);
  }

  #catchUp(): void {
    for (const [key, message] of [...this.#putOff]) {
      this.#putOff.delete(key);
      this.send(message());
    }
    if (this.#dropped.size === 0) return;
    const dropped = Object.fromEntries(this.#dropped);
    this.#dropped.clear();
    this.#onDropped(dropped);
  }
}
