import { abortError, ExtensionHostError } from '../shared/errors.ts';
import { LONGEST_TIMER_MS } from '../shared/longest-timer.ts';
import { type CallOutcome, errorResult, type Progress, type ToolResult } from '../shared/tool.ts';
import { onAbort } from './abort-listeners.ts';
import { isThreadDeath } from './thread/thread-causes.ts';

export interface RunningCallOptions {
  readonly tool: string;
  /** 0 = none. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** The last look at a result: gives what the caller gets. */
  readonly onResult: (result: ToolResult) => ToolResult;
  /** Called once, however the call ended. */
  readonly onOver: () => void;
}

/**
 * A call on its way: it races its timeout, its abort and the end of its session. Resolves with a result for everything but
 * an abort: a fault is a tool result. Leaves no timer and no listener behind. Every call goes through here, so promises and
 * signals are made for those only who need them.
 */
export class RunningCall {
  /** @throws ABORTED */
  readonly result: Promise<ToolResult>;
  readonly #options: RunningCallOptions;
  #resolve: (result: ToolResult) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  /** Unset = it has not been sent. */
  #cancel: (() => void) | undefined;
  #isOver = false;
  #over: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(options: RunningCallOptions) {
    this.#options = options;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get onProgress(): RunningCallOptions['onProgress'] {
    return this.#options.onProgress;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Aborts when the call is over, however it ended. Made for whoever asks. */
  get over(): AbortSignal {
    this.#over ??= new AbortController();
    if (this.#isOver) this.#over.abort();
    return this.#over.signal;
  }

  /** From here on time, abort and session can end it. */
  begin(): void {
    const { signal, timeoutMs } = this.#options;
    if (signal?.aborted) {
      this.#aborted();
      return;
    }
    if (signal) this.#unsubscribe = onAbort(signal, () => this.#aborted());
    if (timeoutMs > 0) this.#timer = setTimeout(() => this.#timedOut(), Math.min(timeoutMs, LONGEST_TIMER_MS));
  }

  /** Does the work, unless the call is over, and makes a result of what comes of it. */
  run<Answer>(work: () => Promise<Answer>, finish: (answer: Answer) => ToolResult): void {
    if (this.#isOver) return;
    try {
      work().then(
        (answer) => this.#answered(answer, finish),
        (error: unknown) => this.fail(error),
      );
    } catch (error) {
      this.fail(error);
    }
  }

  /**
   * Called just before the call leaves the host; `cancel` tells whoever works that it is over for its caller.
   * @throws when nobody waits for it any more
   */
  sent(cancel: () => void): void {
    if (this.#isOver) throw new ExtensionHostError('ABORTED', `the call of ${this.#options.tool} is over`);
    this.#cancel = cancel;
  }

  settle(result: ToolResult): void {
    if (!this.#leave()) return;
    try {
      this.#resolve(this.#options.onResult(result));
    } catch (error) {
      this.#reject(error);
    }
  }

  fail(error: unknown): void {
    if (!this.#isOver) this.settle(faultResult(this.#options.tool, error, this.#outcome));
  }

  /** Its session is closed or restarted. */
  end(): void {
    this.#stop('SESSION_CLOSED', `${this.#options.tool} was ended: its session was closed or restarted`);
  }

  #answered<Answer>(answer: Answer, finish: (answer: Answer) => ToolResult): void {
    if (this.#isOver) return;
    try {
      this.settle(finish(answer));
    } catch (error) {
      this.fail(error);
    }
  }

  #timedOut(): void {
    const { tool, timeoutMs } = this.#options;
    this.#stop('CALL_TIMEOUT', `${tool} timed out after ${timeoutMs / 1000}s`);
  }

  #aborted(): void {
    if (!this.#leave()) return;
    this.#cancel?.();
    const { tool, signal } = this.#options;
    this.#reject(abortError(`the call of ${tool}`, signal ?? { reason: undefined }));
  }

  #stop(code: 'SESSION_CLOSED' | 'CALL_TIMEOUT', text: string): void {
    if (this.#isOver) return;
    this.#cancel?.();
    this.settle(errorResult(code, text, { outcome: this.#outcome }));
  }

  get #outcome(): CallOutcome {
    return this.#cancel ? 'sent-unknown' : 'not-sent';
  }

  /** True for the first that ends the call. */
  #leave(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#unsubscribe?.();
    this.#over?.abort();
    this.#options.onOver();
    return true;
  }
}

function faultResult(tool: string, error: unknown, outcome: CallOutcome): ToolResult {
  const fault =
    error instanceof ExtensionHostError
      ? error
      : new ExtensionHostError('PROTOCOL', error instanceof Error ? error.message : String(error));
  const text = `${tool} failed: ${fault.message}.${isThreadDeath(fault) ? ' It starts again on the next call; its state was lost.' : ''}`;
  return errorResult(fault.code, text, { outcome });
}
