import { StringDecoder } from 'node:string_decoder';
import type { LogForwarder } from './log-forwarder.ts';

/** A line without an end is passed on at this length, so that output never piles up here. */
const LINE_CHARACTERS = 8 * 1024;
/** Lines that wait for credit: the latest are kept. */
const WAITING_LINES = 200;
const WAITING_CHARACTERS = 256 * 1024;
const DRAIN_MS = 100;

type StreamName = 'stdout' | 'stderr';

/**
 * Turns what the thread writes to `process.stdout` and `process.stderr` (`console` included) into log notes. Left alone, Node
 * copies that output to the main thread without a bound: a console flood grew the host by 470 MB.
 */
export function captureOutput(log: LogForwarder): void {
  const ring = new OutputRing(log);
  capture(process.stdout, (line) => ring.push('stdout', line));
  capture(process.stderr, (line) => ring.push('stderr', line));
  process.on('exit', () => ring.flush());
}

/** What was written and has no credit yet: a bounded ring, whose oldest lines are dropped and counted. */
export class OutputRing {
  readonly #log: LogForwarder;
  readonly #waiting: { readonly stream: StreamName; readonly line: string }[] = [];
  #characters = 0;
  #draining = false;

  constructor(log: LogForwarder) {
    this.#log = log;
  }

  push(stream: StreamName, line: string): void {
    if (this.#waiting.length === 0 && this.#log.writeOutput(stream, line)) return;
    this.#waiting.push({ stream, line });
    this.#characters += line.length;
    while (this.#waiting.length > WAITING_LINES || this.#characters > WAITING_CHARACTERS) {
      this.#characters -= this.#waiting.shift()?.line.length ?? 0;
      this.#log.drop(1);
    }
    this.#drainLater();
  }

  /** The thread ends: its last lines may say why. */
  flush(): void {
    for (const { stream, line } of this.#waiting.splice(0)) this.#log.postOutput(stream, line);
  }

  #drainLater(): void {
    if (this.#draining) return;
    this.#draining = true;
    setTimeout(() => {
      this.#draining = false;
      for (
        let next = this.#waiting[0];
        next && this.#log.writeOutput(next.stream, next.line);
        next = this.#waiting[0]
      ) {
        this.#waiting.shift();
        this.#characters -= next.line.length;
      }
      if (this.#waiting.length > 0) this.#drainLater();
    }, DRAIN_MS).unref();
  }
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
