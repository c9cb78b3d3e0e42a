import { ExtensionHostError, messageOf } from '../../../../shared/errors.ts';
import { seconds } from '../../seconds.ts';
import { type ExitReport, exitCause } from '../process/exit-report.ts';
import { printableLine } from '../process/printable-line.ts';
import { StartTimeoutError } from './start-deadline.ts';

/** Programs that may download what they run before they run it. */
const DOWNLOADERS = /(?:^|[\\/])(?:npx|uvx|bunx|pnpx)(?:\.(?:cmd|exe))?$/i;
const DOWNLOADING_LAUNCHER = /(?:^|[\\/])(?:pnpm|yarn|npm|bun|uv)(?:\.(?:cmd|exe))?$/i;
const DOWNLOADING_WORDS: ReadonlySet<string> = new Set(['dlx', 'exec', 'x', 'tool']);

const SHOWN_CHARACTERS = 2000;

/** The server's process ended before it was ready. */
export class ExitedAtStartError extends Error {
  override readonly name = 'ExitedAtStartError';
  readonly report: ExitReport;

  constructor(report: ExitReport) {
    super(`exited (${exitCause(report)})`);
    this.report = report;
  }
}

export interface StartFacts {
  readonly name: string;
  /** Unexpanded, as in the configuration. */
  readonly command: string;
  readonly args: readonly string[];
  readonly startupTimeoutMs: number;
  /** Escaped; empty when there is none. */
  readonly stderrTail: string;
}

/** Turns whatever ended a start into SERVER_START_FAILED; an abort stays an abort. */
export function toStartError(thrown: unknown, facts: StartFacts): ExtensionHostError {
  if (thrown instanceof ExtensionHostError && thrown.code === 'ABORTED') return thrown;
  const tail = facts.stderrTail === '' ? '' : ` Its stderr ends:\n${facts.stderrTail}`;
  const text = `${facts.name} MCP server ${whatHappened(thrown, facts)}.${tail}`;
  return new ExtensionHostError('SERVER_START_FAILED', text, { cause: thrown });
}

function whatHappened(thrown: unknown, facts: StartFacts): string {
  const download = mayDownload(facts.command, facts.args);
  if (thrown instanceof StartTimeoutError) {
    const hint = `. A first start with ${facts.command} downloads the package; raise startupTimeoutSeconds or install it before`;
    return `timed out after ${seconds(facts.startupTimeoutMs)}s before it was ready${download ? hint : ''}`;
  }
  if (thrown instanceof ExitedAtStartError) {
    const hint = `. A first start with ${facts.command} downloads the package, which may have failed`;
    return `${howItEnded(thrown.report)} before it was ready${download ? hint : ''}`;
  }
  // It may hold what the server answered.
  return `could not be started: ${printableLine(messageOf(thrown), SHOWN_CHARACTERS)}`;
}

function howItEnded({ code, signal, reason }: ExitReport): string {
  if (reason !== undefined) return `was given up (${reason})`;
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
}

function mayDownload(command: string, args: readonly string[]): boolean {
  if (DOWNLOADERS.test(command)) return true;
  return DOWNLOADING_LAUNCHER.test(command) && DOWNLOADING_WORDS.has(args[0] ?? '');
}
