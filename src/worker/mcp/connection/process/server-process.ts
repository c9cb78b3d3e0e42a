import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { ProcessNote } from '../../../../shared/extension-api.ts';
import type { ExitReport } from './exit-report.ts';
import { ProcessTree } from './process-tree.ts';
import type { ServerLog } from './server-log.ts';
import { endLeftovers, StopLadder } from './stop-ladder.ts';
import { TimeBudget } from './time-budget.ts';

/** How long stdout and stderr may still deliver after the exit: a helper that inherited them can hold them open for ever. */
const DRAIN_MS = 200;
/** After the end of a pipe a server that is on its way out has so long to exit. */
const EXIT_AFTER_END_MS = 250;
/** The ladder of a server that is of no use any more. */
const USELESS_STOP_MS = 1000;
/** Looking for descendants (0.1 ms for a server without any) may take this share of the time, and so much at once. */
const OBSERVE_SHARE = 0.02;
const OBSERVE_BURST_MS = 10;

export interface ServerProcessOptions {
  readonly log: ServerLog;
  readonly track: (note: ProcessNote) => void;
  readonly note: Pick<ProcessNote, 'server' | 'sessionId'>;
}

/**
 * One spawned server: its streams, its end and what it started. It does not speak the protocol. The process is over for its
 * users at `ended`, and gone with everything it started when `stop` resolves.
 */
export class ServerProcess {
  readonly pid: number;
  readonly stdin: ChildProcessWithoutNullStreams['stdin'];
  readonly stdout: ChildProcessWithoutNullStreams['stdout'];
  readonly log: ServerLog;
  /** Called before the process is ended, while it still answers. */
  stopHook: (() => Promise<void>) | undefined;
  /** Resolves when nothing more can come from it. */
  readonly ended: Promise<ExitReport>;

  readonly #child: ChildProcessWithoutNullStreams;
  readonly #tree: ProcessTree;
  readonly #noteEnd: () => void;
  readonly #resolveEnded: (report: ExitReport) => void;
  #exit: { readonly code: number | null; readonly signal: string | null } | undefined;
  #reason: string | undefined;
  #isOver = false;
  #ladder: StopLadder | undefined;
  #gone: Promise<void> | undefined;
  readonly #observeBudget = new TimeBudget(OBSERVE_SHARE, OBSERVE_BURST_MS);
  #observeTimer: NodeJS.Timeout | undefined;
  #exitTimer: NodeJS.Timeout | undefined;

  constructor(child: ChildProcessWithoutNullStreams, pid: number, { log, track, note }: ServerProcessOptions) {
    this.#child = child;
    this.pid = pid;
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    this.log = log;
    this.#tree = new ProcessTree(pid);
    let resolveEnded: (report: ExitReport) => void = () => {};
    this.ended = new Promise((resolve) => {
      resolveEnded = resolve;
    });
    this.#resolveEnded = resolveEnded;
    track({ pid, group: true, ...note, state: 'running' });
    this.#noteEnd = () => track({ pid, group: true, ...note, state: 'exited' });
    child.once('exit', (code, signal) => this.#onExit(code, signal));
    // A kill that fails, EPIPE, a read error: the exit tells what matters.
    for (const source of [child, child.stdin, child.stdout, child.stderr]) source.on('error', () => {});
    child.stderr.on('data', (chunk: Buffer) => log.stderr(chunk));
    child.stdout.once('end', () => this.expectExit('it closed its stdout'));
  }

  /** True when the process has exited or can be used no more. */
  get isOver(): boolean {
    return this.#isOver || this.#exit !== undefined;
  }

  /** Notes what the server has started so far; called often, it does so at once unless that has cost too much lately. */
  observe(): void {
    if (this.isOver || this.#observeTimer) return;
    const waitMs = this.#observeBudget.waitMs();
    if (waitMs > 0) {
      this.#observeTimer = setTimeout(() => {
        this.#observeTimer = undefined;
        this.observe();
      }, waitMs).unref();
      return;
    }
    this.#observeBudget.spend(() => this.#tree.observe());
  }

  /** A pipe has ended: the exit should follow at once, else the process is of no use any more. */
  expectExit(reason: string): void {
    if (this.isOver) return;
    this.#exitTimer ??= setTimeout(() => this.abandon(reason), EXIT_AFTER_END_MS);
  }

  /** Declares a living process useless: it is over at once and ended behind. One that is being stopped keeps its time. */
  abandon(reason: string): void {
    if (this.isOver || this.#gone) return;
    this.#reason = reason;
    this.#finish();
    void this.stop({ timeoutMs: USELESS_STOP_MS });
  }

  /** Ends the process and everything it started. Idempotent; a second call can only shorten the first. */
  stop({ timeoutMs, hook = true }: { readonly timeoutMs: number; readonly hook?: boolean }): Promise<void> {
    this.#ladder?.shorten(timeoutMs);
    this.#gone ??= this.#climb(timeoutMs, hook);
    return this.#gone;
  }

  async #climb(timeoutMs: number, hook: boolean): Promise<void> {
    this.#ladder = new StopLadder(
      {
        tree: this.#tree,
        hook: hook && !this.isOver ? this.stopHook : undefined,
        endInput: () => this.stdin.end(),
        hasExited: () => this.#exit !== undefined,
      },
      timeoutMs,
    );
    await this.#leave(this.#ladder.run());
    // Even if the kernel holds the process: whoever waits for its answers is told.
    this.#finish();
  }

  async #leave(ending: Promise<boolean>): Promise<void> {
    if (!(await ending)) this.log.notice(`something of the process tree of pid ${this.pid} could not be ended`);
    this.#noteEnd();
  }

  #onExit(code: number | null, signal: NodeJS.Signals | null): void {
    this.#exit = { code, signal };
    clearTimeout(this.#observeTimer);
    clearTimeout(this.#exitTimer);
    this.#tree.rootEnded();
    this.#gone ??= this.#leave(endLeftovers(this.#tree));
    if (this.#isOver) {
      this.#closeStreams();
      return;
    }
    const timer = setTimeout(() => {
      // Timers run before input is polled: after a stall there may still be an answer to read.
      setImmediate(() => setImmediate(() => this.#finish()));
    }, DRAIN_MS);
    this.#child.once('close', () => {
      clearTimeout(timer);
      this.#finish();
    });
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.log.end();
    const { code, signal } = this.#exit ?? { code: null, signal: null };
    const reason = this.#reason === undefined ? {} : { reason: this.#reason };
    this.#resolveEnded({ code, signal, ...reason, stderrTail: this.log.stderrTail() });
    // One that floods its stdout has to notice. Its stderr stays drained and its stdin open: the ladder ends it.
    this.stdout.destroy();
    if (this.#exit) this.#closeStreams();
  }

  #closeStreams(): void {
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy();
  }
}
