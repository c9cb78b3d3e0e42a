import { StringDecoder } from 'node:string_decoder';
import type { LogForwarder } from './log-forwarder.ts';

/** A line without an end is passed on at this length, so that output never piles up here. */
const LINE_CHARACTERS = 8 * 1024;

/**
 * Turns what the thread writes to `process.stdout` and `process.stderr` (`console` included) into log records, bounded as all of
 * them are. Left alone, Node copies that output to the main thread without a bound: a console flood grew the host by 470 MB.
 * Both are `info`: what a library prints to stderr is seldom an error, and a host that logs warnings only wants none of it.
 */
export function captureOutput(log: LogForwarder): void {
  capture(process.stdout, (line) => log.info({ stream: 'stdout' }, line));
  capture(process.stderr, (line) => log.info({ stream: 'stderr' }, line));
  process.on('exit', () => log.flush());
}

function capture(stream: NodeJS.WriteStream, emit: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const take = (text: string): void => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim()) emit(line.slice(0, LINE_CHARACTERS));
    if (rest.length < LINE_CHARACTERS) return;
    emit(rest.slice(0, LINE_CHARACTERS));
    rest = '';
  };
  const write = (chunk: unknown, encodingOrDone?: unknown, done?: unknown): boolean => {
    take(typeof chunk === 'string' ? chunk : chunk instanceof Uint8Array ? decoder.write(Buffer.from(chunk)) : '');
    const callback = typeof encodingOrDone === 'function' ? encodingOrDone : done;
    if (typeof callback === 'function') queueMicrotask(() => void Reflect.apply(callback, stream, [null]));
    return true;
  };
  stream.write = write as typeof stream.write;
}
