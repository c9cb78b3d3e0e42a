import type { Logger } from '../shared/extension-api.ts';
import { isRecord, type JsonObject } from '../shared/json.ts';
import { copyJson } from '../shared/json-copy.ts';
import type { Limits } from '../shared/limits.ts';
import type { LogLevel, ThreadNote } from '../shared/protocol.ts';

const MESSAGE_CHARACTERS = 8 * 1024;
const FACTS_BOUNDS = { maxDepth: 8, maxBytes: 16 * 1024 };
const WINDOW_MS = 1000;

/**
 * Sends log records to the host as notes, at most `notesPerSecond` and `logBytesPerSecond` of them. What is over it is
 * dropped and counted here, before it costs the main thread anything; one record a second says how many there were.
 */
export class LogForwarder implements Logger {
  readonly #post: (note: ThreadNote) => void;
  readonly #limits: Limits;
  #windowStart = 0;
  #notes = 0;
  #bytes = 0;
  #dropped = 0;
  #reporting = false;

  constructor(post: (note: ThreadNote) => void, limits: Limits) {
    this.#post = post;
    this.#limits = limits;
  }

  debug(facts: JsonObject | string, message?: string): void {
    this.write('debug', facts, message);
  }
  info(facts: JsonObject | string, message?: string): void {
    this.write('info', facts, message);
  }
  warn(facts: JsonObject | string, message?: string): void {
    this.write('warn', facts, message);
  }
  error(facts: JsonObject | string, message?: string): void {
    this.write('error', facts, message);
  }

  write(level: LogLevel, first: unknown, second?: unknown): void {
    const given = typeof first === 'string' ? first : typeof second === 'string' ? second : '';
    const message = given.slice(0, MESSAGE_CHARACTERS).toWellFormed();
    if (!this.#admit(message.length)) return;
    const copied = isRecord(first) ? copyJson(first, FACTS_BOUNDS) : undefined;
    if (copied && !copied.ok) {
      this.#post({ type: 'log', level, message, facts: { note: `facts left out: ${copied.reason}` } });
      return;
    }
    if (copied && !this.#admitBytes(copied.bytes)) return;
    this.#post({ type: 'log', level, message, ...(copied ? { facts: copied.value } : {}) });
  }

  #admit(bytes: number): boolean {
    const now = Date.now();
    if (now - this.#windowStart >= WINDOW_MS) {
      this.#windowStart = now;
      this.#notes = 0;
      this.#bytes = 0;
    }
    if (this.#notes >= this.#limits.notesPerSecond) return this.#drop();
    this.#notes += 1;
    return this.#admitBytes(bytes);
  }

  #admitBytes(bytes: number): boolean {
    if (this.#bytes + bytes > this.#limits.logBytesPerSecond) return this.#drop();
    this.#bytes += bytes;
    return true;
  }

  #drop(): false {
    this.#dropped += 1;
    if (this.#reporting) return false;
    this.#reporting = true;
    setTimeout(() => {
      this.#reporting = false;
      const dropped = this.#dropped;
      this.#dropped = 0;
      this.#post({
        type: 'log',
        level: 'warn',
        message: `${dropped} log records dropped: more than the limits let through`,
      });
    }, WINDOW_MS).unref();
    return false;
  }
}
