import type { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';
import { isRecord } from '../../shared/json.ts';
import { printable } from '../../shared/printable.ts';

export const LOG_LEVEL_NAMES = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevelName = (typeof LOG_LEVEL_NAMES)[number];

/** True when records of `level` are wanted at `wanted` and above. */
export function isLogged(level: Exclude<LogLevelName, 'silent'>, wanted: LogLevelName): boolean {
  return LOG_LEVEL_NAMES.indexOf(level) >= LOG_LEVEL_NAMES.indexOf(wanted);
}

type LogStream = Writable & { readonly isTTY?: boolean };

/** While so much of stderr is unread, records are dropped and counted: a host never waits for whoever reads its log. */
const UNREAD_BYTES = 1024 * 1024;

/** The command line's log on stderr: JSON, one record a line, or on a terminal one line of text. */
export function stderrLogger(level: LogLevelName, stderr: LogStream = process.stderr): Logger {
  let dropped = 0;
  stderr.on('error', () => undefined); // whoever read it is gone, which is no reason to stop
  const write = (line: string): void => {
    if (stderr.writableLength > UNREAD_BYTES) dropped++;
    else stderr.write(stderr.isTTY ? textLine(line) : line);
  };
  const logger = pino({ level, base: null, formatters: { level: (label) => ({ level: label }) } }, { write });
  stderr.on('drain', () => {
    const count = dropped;
    dropped = 0;
    if (count > 0) logger.warn(`${count} log records dropped: stderr was not read`);
  });
  return logger;
}

/** `17:03:21 warn  mcp: the message key=value`; what is no record stays as it is. */
export function textLine(line: string): string {
  const record: unknown = parsed(line);
  if (!isRecord(record)) return line;
  const { level, time, msg, extension, ...facts } = record;
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const who = typeof extension === 'string' ? `${extension}: ` : '';
  const more = Object.entries(facts).map(
    ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${printable(`${clock} ${String(level).padEnd(5)} ${who}${typeof msg === 'string' ? msg : ''}${more.join('')}`)}\n`;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
