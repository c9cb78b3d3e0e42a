import type { Logger } from '../../../../shared/extension-api.ts';
import type { Limits } from '../../../../shared/limits.ts';
import type { ServerConfig } from '../../../../shared/mcp-options.ts';
import { printable } from '../../../../shared/printable.ts';
import { withoutFirstWord, withoutLastWord } from '../../cut-words.ts';
import { LineFramer } from './line-framer.ts';
import { LogRate } from './log-rate.ts';
import { StderrTail } from './stderr-tail.ts';

/** Far behind the place where the logger cuts a record (for the host to redact it, and to cut it finally). */
const ESCAPED_CHARACTERS = 64 * 1024;

/**
 * What one process of a server says beside the protocol: stderr, log notifications, noise on stdout. It reaches the log at
 * the server's `stderrLevel`, one escaped record per line, at a bounded rate; the end of stderr is kept for errors and /mcp.
 */
export class ServerLog {
  readonly #name: string;
  readonly #write: (message: string) => void;
  readonly #debug: (message: string) => void;
  readonly #rate: LogRate;
  readonly #tail: StderrTail;
  readonly #stderr: LineFramer;
  #noiseLines = 0;
  #strayAnswers = 0;

  constructor({ name, stderrLevel }: Pick<ServerConfig, 'name' | 'stderrLevel'>, logger: Logger, limits: Limits) {
    this.#name = name;
    this.#write = (message) => logger[stderrLevel]({ server: name }, `${name} mcp: ${message}`);
    this.#debug = (message) => logger.debug({ server: name }, `${name} mcp: ${message}`);
    this.#rate = new LogRate(limits.stderrLogLinesPerSecond, this.#write);
    this.#tail = new StderrTail(limits.stderrTailLines, limits.stderrTailBytes);
    this.#stderr = new LineFramer(limits.stderrTailBytes, {
      line: (text) => this.#stderrLine(text),
      tooLong: ({ head, tail, bytes }) => {
        this.#stderrLine(`${withoutLastWord(head)} … (${bytes} bytes) … ${withoutFirstWord(tail)}`);
      },
    });
  }

  get name(): string {
    return this.#name;
  }

  /** Bytes of stderr. */
  stderr(chunk: Buffer): void {
    this.#stderr.push(chunk);
  }

  /** A log notification. */
  notice(text: string): void {
    if (this.#rate.admit()) this.#write(oneLine(text));
  }

  /** A line on stdout that is no protocol: the first of a start is shown, the others are counted. */
  noise(text: string): void {
    this.#noiseLines += 1;
    if (this.#noiseLines > 1) return;
    this.#write(`skipped a non-protocol line on stdout: ${oneLine(text)}`);
  }

  /** An answer nobody waits for: usual after a timeout, else the sign of a wrong id. */
  stray(id: string | number): void {
    this.#strayAnswers += 1;
    if (this.#strayAnswers > 1) return;
    this.#debug(`skipped an answer to no open request, id ${oneLine(JSON.stringify(id))}`);
  }

  get noiseLines(): number {
    return this.#noiseLines;
  }

  stderrTail(): string {
    return this.#tail.text(this.#stderr.unfinished);
  }

  /** No more is coming: hands out what is unfinished and the counts. */
  end(): void {
    this.#stderr.end();
    this.#rate.end();
    if (this.#noiseLines > 1) this.#write(`skipped ${this.#noiseLines} non-protocol lines on stdout in all`);
    if (this.#strayAnswers > 1) this.#debug(`skipped ${this.#strayAnswers} answers to no open request in all`);
  }

  #stderrLine(text: string): void {
    this.#tail.push(text);
    if (text.trim() !== '' && this.#rate.admit()) this.#write(oneLine(text));
  }
}

function oneLine(text: string): string {
  return printable(text.slice(0, ESCAPED_CHARACTERS).toWellFormed());
}
