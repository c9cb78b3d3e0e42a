import { type Logger as PinoLogger, pino } from 'pino';
import { isRecord, type JsonObject } from '../shared/json.ts';
import { printable } from '../shared/printable.ts';
import type { LogLevel } from '../shared/protocol.ts';
import { TEXT_CAPS } from '../shared/text-caps.ts';
import type { LogRecord } from './options.ts';
import type { Redactor } from './policy/redactor.ts';
import { cutText } from './policy/text-cut.ts';

/** Who hears the records beside the logger. */
export interface LogListener {
  readonly isThere: () => boolean;
  readonly take: (record: LogRecord) => void;
}

/**
 * Where every record of the host and its threads goes: redacted, its control characters escaped, one line each. What a
 * server wrote never reaches a terminal raw.
 */
export class HostLog {
  readonly #logger: PinoLogger;
  readonly #redactor: Redactor;
  readonly #listener: LogListener;

  constructor(logger: PinoLogger | undefined, redactor: Redactor, listener: LogListener) {
    this.#logger = logger ?? pino({ level: 'silent' });
    this.#redactor = redactor;
    this.#listener = listener;
  }

  write(level: LogLevel, message: string, facts: unknown = {}): void {
    // Redaction is what a record costs: a flood that nobody reads must cost main next to nothing.
    if (!this.#logger.isLevelEnabled(level) && !this.#listener.isThere()) return;
    const text = printable(cutText(message, TEXT_CAPS.logMessage, this.#redactor));
    const rest = escapeStrings(this.#redactor.json(isRecord(facts) ? facts : {})) as JsonObject;
    this.#logger[level](rest, text);
    this.#listener.take({ ...rest, level, message: text });
  }
}

/** Keys and values alike. */
function escapeStrings(value: unknown): unknown {
  if (typeof value === 'string') return printable(value);
  if (Array.isArray(value)) return value.map(escapeStrings);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [printable(key), escapeStrings(inner)]));
}
