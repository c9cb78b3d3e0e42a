import type { Logger } from '../shared/extension-api.ts';
import { isRecord, type JsonObject } from '../shared/json.ts';
import { copyJson } from '../shared/json-copy.ts';
import type { Limits } from '../shared/limits.ts';
import type { LogLevel, ThreadNote } from '../shared/protocol.ts';
import { cutWithOverlap, TEXT_CAPS } from '../shared/text-caps.ts';
import type { NoteCredit } from './note-credit.ts';

type LogNote = Extract<ThreadNote, { type: 'log' }>;

const FACTS_BOUNDS = { maxDepth: 8, maxBytes: 16 * 1024 };
const DRAIN_MS = 50;
const REPORT_MS = 1000;
/** Of the records that wait when the thread ends, the last ones may say why. */
const LAST_RECORDS = 200;

/**
 * Sends log records to the host as notes, as fast as the credit allows. What is over it waits in a ring that holds a second's
 * worth; the oldest are dropped and counted here, before they cost the main thread anything, and one record a second says how
 * many there were.
 */
export class LogForwarder implements Logger {
  readonly #post: (note: ThreadNote) => void;
  readonly #credit: NoteCredit;
  readonly #limits: Pick<Limits, 'notesPerSecond' | 'logBytesPerSecond'>;
  readonly #overlapBytes: number;
  readonly #waiting: { readonly note: LogNote; readonly bytes: number }[] = [];
  #waitingBytes = 0;
  #draining = false;
  #dropped = 0;
  #reporting = false;

  constructor(
    post: (note: ThreadNote) => void,
    credit: NoteCredit,
    limits: Pick<Limits, 'notesPerSecond' | 'logBytesPerSecond'>,
    overlapBytes: number,
  ) {
    this.#post = post;
    this.#credit = credit;
    this.#limits = limits;
    this.#overlapBytes = overlapBytes;
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
    const message = cutWithOverlap(given, TEXT_CAPS.logMessage, this.#overlapBytes);
    const copied = isRecord(first) ? copyJson(first, FACTS_BOUNDS) : undefined;
    const facts = copied?.ok === false ? { note: `facts left out: ${copied.reason}` } : copied?.value;
    const note: LogNote = { type: 'log', level, message, ...(facts === undefined ? {} : { facts }) };
    const bytes = message.length + (copied?.ok ? copied.bytes : 0);
    if (this.#waiting.length === 0 && this.#credit.takeLog(bytes)) this.#post(note);
    else this.#wait(note, bytes);
  }

  /** The thread ends: its last records go whatever the credit is. */
  flush(): void {
    for (const { note } of this.#waiting.splice(0).slice(-LAST_RECORDS)) this.#post(note);
  }

  #wait(note: LogNote, bytes: number): void {
    const { notesPerSecond, logBytesPerSecond } = this.#limits;
    this.#waiting.push({ note, bytes });
    this.#waitingBytes += bytes;
    while (
      this.#waiting.length > notesPerSecond ||
      (this.#waitingBytes > logBytesPerSecond && this.#waiting.length > 1)
    ) {
      this.#waitingBytes -= this.#waiting.shift()?.bytes ?? 0;
      this.#drop();
    }
    this.#drainLater();
  }

  #drainLater(): void {
    if (this.#draining) return;
    this.#draining = true;
    setTimeout(() => {
      this.#draining = false;
      for (let next = this.#waiting[0]; next && this.#credit.takeLog(next.bytes); next = this.#waiting[0]) {
        this.#waiting.shift();
        this.#waitingBytes -= next.bytes;
        this.#post(next.note);
      }
      if (this.#waiting.length > 0) this.#drainLater();
    }, DRAIN_MS).unref();
  }

  #drop(): void {
    this.#credit.dropped();
    this.#dropped += 1;
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
