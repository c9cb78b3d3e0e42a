import type { Logger } from '../shared/extension-api.ts';
import { isRecord, type JsonObject } from '../shared/json.ts';
import { copyJson } from '../shared/json-copy.ts';
import type { LogLevel, ThreadNote } from '../shared/protocol.ts';
import type { NoteCredit } from './note-credit.ts';

const MESSAGE_CHARACTERS = 8 * 1024;
const FACTS_BOUNDS = { maxDepth: 8, maxBytes: 16 * 1024 };
const REPORT_MS = 1000;

/**
 * Sends log records to the host as notes, as far as the credit goes. What is over it is dropped and counted here, before it
 * costs the main thread anything; one record a second says how many there were.
 */
export class LogForwarder implements Logger {
  readonly #post: (note: ThreadNote) => void;
  readonly #credit: NoteCredit;
  #dropped = 0;
  #reporting = false;

  constructor(post: (note: ThreadNote) => void, credit: NoteCredit) {
    this.#post = post;
    this.#credit = credit;
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
    // The credit comes first: a record that is dropped must not cost a copy of its facts.
    if (!this.#credit.takeLog(message.length)) {
      this.drop(1);
      return;
    }
    const copied = isRecord(first) ? copyJson(first, FACTS_BOUNDS) : undefined;
    if (copied?.ok === false) {
      this.#post({ type: 'log', level, message, facts: { note: `facts left out: ${copied.reason}` } });
      return;
    }
    if (copied) this.#credit.spendLog(copied.bytes);
    this.#post({ type: 'log', level, message, ...(copied ? { facts: copied.value } : {}) });
  }

  /** A line of the thread's own output; false when there is no credit for it now. */
  writeOutput(stream: 'stdout' | 'stderr', line: string): boolean {
    if (!this.#credit.takeLog(line.length)) return false;
    this.postOutput(stream, line);
    return true;
  }

  /** The same without credit: for the few last lines of a thread that ends. */
  postOutput(stream: 'stdout' | 'stderr', line: string): void {
    this.#post({
      type: 'log',
      level: 'info',
      message: line.slice(0, MESSAGE_CHARACTERS).toWellFormed(),
      facts: { stream },
    });
  }

  /** Counts records that are lost; a record a second tells how many. */
  drop(records: number): void {
    for (let i = 0; i < records; i++) this.#credit.dropped();
    this.#dropped += records;
    if (this.#reporting) return;
    this.#reporting = true;
    setTimeout(() => {
      this.#reporting = false;
      const dropped = this.#dropped;
      this.#dropped = 0;
      const message = `${dropped} log records dropped: more than the limits let through`;
      this.#post({ type: 'log', level: 'warn', message });
    }, REPORT_MS).unref();
  }
}
