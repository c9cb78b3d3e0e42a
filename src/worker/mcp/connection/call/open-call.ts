import { abortError, ExtensionHostError, messageOf } from '../../../../shared/errors.ts';
import type { JsonObject } from '../../../../shared/json.ts';
import type { Progress } from '../../../../shared/tool.ts';
import type { ClientCallHandle } from '../client/client-port.ts';
import type { RunningServer } from '../launch/server-launch.ts';
import { CallClock } from './call-clock.ts';
import { ProgressThrottle } from './progress-throttle.ts';

/** How the wait for an answer ended. */
export type CallEnd =
  | { readonly kind: 'answered'; readonly raw: unknown; readonly durationMs: number }
  | { readonly kind: 'failed'; readonly error: ExtensionHostError }
  | { readonly kind: 'expired'; readonly limitMs: number }
  | { readonly kind: 'aborted'; readonly error: ExtensionHostError }
  | { readonly kind: 'interrupted' };

export interface OpenCallRequest {
  readonly tool: string;
  readonly exposedName: string;
  readonly arguments: JsonObject;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/** One request on its way: written when it is made, over at its answer, its time, its abort or an interruption. */
export class OpenCall {
  /** Never rejects. */
  readonly ended: Promise<CallEnd>;
  readonly #handle: ClientCallHandle;
  readonly #clock: CallClock;
  #end: (end: CallEnd) => void = () => {};

  constructor(
    { client }: RunningServer,
    { tool, exposedName, arguments: args, signal, onProgress }: OpenCallRequest,
    { callTimeoutMs, maxCallMs }: { readonly callTimeoutMs: number; readonly maxCallMs: number },
  ) {
    const startedAt = performance.now();
    const progress = new ProgressThrottle(onProgress);
    const clock = new CallClock(callTimeoutMs, maxCallMs, (limitMs) => this.#end({ kind: 'expired', limitMs }));
    this.#clock = clock;
    const onAbort = () => this.#end({ kind: 'aborted', error: abortError(exposedName, signal) });
    this.ended = new Promise((resolve) => {
      this.#end = (end) => {
        this.#end = () => {};
        clock.clear();
        signal.removeEventListener('abort', onAbort);
        progress.end();
        resolve(end);
      };
    });
    signal.addEventListener('abort', onAbort, { once: true });
    this.#handle = client.call({
      tool,
      arguments: args,
      onProgress: (update) => {
        clock.renew();
        progress.push(update);
      },
    });
    this.#handle.answer.then(
      (raw) => this.#end({ kind: 'answered', raw, durationMs: performance.now() - startedAt }),
      (thrown: unknown) => this.#end({ kind: 'failed', error: asError(thrown) }),
    );
  }

  /** False when the request was provably not written. */
  get sent(): boolean {
    return this.#handle.sent;
  }

  /** The server asks somebody meanwhile: its time stands still until the returned function is called. */
  hold(): () => void {
    return this.#clock.hold();
  }

  /** Tells the server once; resolves at the late answer or after 2 s. */
  cancel(): Promise<void> {
    return this.#handle.cancel();
  }

  /** The process is being stopped. */
  interrupt(): void {
    this.#end({ kind: 'interrupted' });
  }

  /** Resolves with true at a late answer, an error too; else never. */
  provesLife(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#handle.answer.then(
        () => resolve(true),
        (thrown: unknown) => {
          const { code } = asError(thrown);
          if (code !== 'ABORTED' && code !== 'SERVER_EXITED') resolve(true);
        },
      );
    });
  }
}

function asError(thrown: unknown): ExtensionHostError {
  if (thrown instanceof ExtensionHostError) return thrown;
  return new ExtensionHostError('PROTOCOL', messageOf(thrown), { cause: thrown });
}
