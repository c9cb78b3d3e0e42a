import { ExtensionHostError, messageOf } from '../shared/errors.ts';
import { type ExtensionContext, type ToolContext, ToolExecutionError } from '../shared/extension-api.ts';
import type { Limits } from '../shared/limits.ts';
import type { CallRequest, WireToolResult } from '../shared/protocol.ts';
import { cutWithOverlap, TEXT_CAPS } from '../shared/text-caps.ts';
import type { Progress } from '../shared/tool.ts';
import { gateError, gateResult } from './result/result-gate.ts';
import type { ToolTableBuilder } from './tool-table.ts';

const PROGRESS_INTERVAL_MS = 100;

export interface CallEnvironment {
  readonly tools: ToolTableBuilder;
  readonly context: ExtensionContext;
  readonly limits: Limits;
  readonly overlapBytes: number;
  readonly onProgress: (callId: string, progress: Progress) => void;
}

/** Runs the calls of one instance. Whatever a tool does, its call ends as a result that may cross. */
export class CallRunner {
  readonly #environment: CallEnvironment;
  readonly #running = new Map<string, AbortController>();

  constructor(environment: CallEnvironment) {
    this.#environment = environment;
  }

  async run({ callId, tool: name, arguments: params, expectEpoch }: CallRequest): Promise<WireToolResult> {
    const { tools, context, limits, overlapBytes, onProgress } = this.#environment;
    const tool = tools.get(name);
    if (!tool) {
      const details = { outcome: 'not-sent', error: { code: 'UNKNOWN_TOOL' } };
      return gateError(`There is no tool ${name} any more.`, { limits, overlapBytes }, details);
    }
    const controller = new AbortController();
    this.#running.set(callId, controller);
    const progress = throttle((update) => onProgress(callId, update), overlapBytes);
    const ctx: ToolContext = expectEpoch === undefined ? context : { ...context, expectEpoch };
    try {
      const returned = await tool.execute(callId, params, controller.signal, progress.push, ctx);
      return gateResult(name, returned, { limits, overlapBytes });
    } catch (thrown) {
      return thrownResult(name, thrown, { limits, overlapBytes });
    } finally {
      progress.end();
      this.#running.delete(callId);
    }
  }

  cancel(callId: string): void {
    this.#abort(this.#running.get(callId), 'the call was cancelled');
  }

  cancelAll(): void {
    for (const controller of this.#running.values()) this.#abort(controller, 'the session has ended');
  }

  #abort(controller: AbortController | undefined, why: string): void {
    controller?.abort(new ExtensionHostError('ABORTED', why));
  }
}

function thrownResult(name: string, thrown: unknown, caps: { limits: Limits; overlapBytes: number }): WireToolResult {
  // By name as well: a second copy of our module in an extension's own node_modules has another class.
  if (
    thrown instanceof ToolExecutionError ||
    (thrown instanceof Error && thrown.name === 'ToolExecutionError' && 'result' in thrown)
  ) {
    const gated = gateResult(name, thrown.result, caps);
    return { ...gated, isError: true };
  }
  const details = thrown instanceof ExtensionHostError ? { error: { code: thrown.code } } : undefined;
  return gateError(messageOf(thrown) || `Tool ${name} failed.`, caps, details);
}

/** At most ten updates a second and call; the last one waits for its turn and is sent before the call ends. */
function throttle(
  send: (progress: Progress) => void,
  overlapBytes: number,
): { push: (progress: Progress) => void; end: () => void } {
  let waiting: Progress | undefined;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  const flush = (): void => {
    timer = undefined;
    if (waiting === undefined) return;
    send(waiting);
    waiting = undefined;
    timer = setTimeout(flush, PROGRESS_INTERVAL_MS);
  };
  return {
    push: (progress) => {
      if (ended) return;
      waiting = readProgress(progress, overlapBytes);
      if (timer === undefined) flush();
    },
    end: () => {
      ended = true;
      clearTimeout(timer);
      if (waiting !== undefined) send(waiting);
    },
  };
}

function readProgress(given: unknown, overlapBytes: number): Progress {
  const { progress, total, message } = (typeof given === 'object' && given !== null ? given : {}) as Record<
    string,
    unknown
  >;
  return {
    ...(typeof progress === 'number' ? { progress } : {}),
    ...(typeof total === 'number' ? { total } : {}),
    ...(typeof message === 'string'
      ? { message: cutWithOverlap(message, TEXT_CAPS.progressMessage, overlapBytes) }
      : {}),
  };
}
