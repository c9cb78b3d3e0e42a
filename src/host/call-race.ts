import { abortError, ExtensionHostError } from '../shared/errors.ts';
import { type CallOutcome, errorResult, type ToolResult } from '../shared/tool.ts';
import { onAbort } from './abort-listeners.ts';

export interface CallRace {
  readonly tool: string;
  /** 0 = none. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Ends the call as a `SESSION_CLOSED` result. */
  readonly ended: AbortSignal;
  /** Does the work; `sent()` is called just before it leaves the host, and throws when nobody waits any more. */
  readonly work: (sent: () => void) => Promise<ToolResult>;
  /** Tells whoever works that the call is over for its caller. */
  readonly cancel: () => void;
  /** Called once, however it ended. */
  readonly over: () => void;
}

/**
 * Lets a call race its timeout, its abort and the end of its session. Resolves with a result for everything but an abort:
 * a fault is a tool result. Leaves no timer and no listener behind.
 * @throws ABORTED
 */
export function runCall({ tool, timeoutMs, signal, ended, work, cancel, over: onOver }: CallRace): Promise<ToolResult> {
  return new Promise((resolve, reject) => {
    let over = false;
    let outcome: CallOutcome = 'not-sent';
    let timer: NodeJS.Timeout | undefined;
    const subscriptions: (() => void)[] = [];
    const finish = (settle: () => void): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      for (const unsubscribe of subscriptions) unsubscribe();
      onOver();
      settle();
    };
    const stop = (settle: () => void): void =>
      finish(() => {
        if (outcome !== 'not-sent') cancel();
        settle();
      });
    const aborted = (): void => stop(() => reject(abortError(`the call of ${tool}`, signal ?? { reason: undefined })));
    const sessionEnded = (): void =>
      stop(() =>
        resolve(errorResult('SESSION_CLOSED', `${tool} was ended: its session was closed or restarted`, { outcome })),
      );
    if (signal?.aborted) {
      aborted();
      return;
    }
    if (ended.aborted) {
      sessionEnded();
      return;
    }
    if (signal) subscriptions.push(onAbort(signal, aborted));
    subscriptions.push(onAbort(ended, sessionEnded));
    if (timeoutMs > 0) {
      const text = `${tool} timed out after ${timeoutMs / 1000}s`;
      timer = setTimeout(() => stop(() => resolve(errorResult('CALL_TIMEOUT', text, { outcome }))), timeoutMs);
    }
    const sent = (): void => {
      if (over) throw new ExtensionHostError('ABORTED', `the call of ${tool} is over`);
      outcome = 'sent-unknown';
    };
    work(sent).then(
      (result) => finish(() => resolve(result)),
      (error: unknown) => finish(() => resolve(faultResult(tool, error, outcome))),
    );
  });
}

function faultResult(tool: string, error: unknown, outcome: CallOutcome): ToolResult {
  const fault =
    error instanceof ExtensionHostError
      ? error
      : new ExtensionHostError('PROTOCOL', error instanceof Error ? error.message : String(error));
  const died = fault.code === 'THREAD_EXITED' || fault.code === 'THREAD_MEMORY' || fault.code === 'THREAD_STALLED';
  const text = `${tool} failed: ${fault.message}.${died ? ' It starts again on the next call; its state was lost.' : ''}`;
  return errorResult(fault.code, text, { outcome });
}
