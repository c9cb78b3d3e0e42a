import { randomUUID } from 'node:crypto';
import { abortError, type ErrorCode, ExtensionHostError, messageOf } from '../shared/errors.ts';
import { isRecord, type JsonObject } from '../shared/json.ts';
import { copyJson } from '../shared/json-copy.ts';
import type { Limits } from '../shared/limits.ts';
import type { CallRequest } from '../shared/protocol.ts';
import { TEXT_CAPS } from '../shared/text-caps.ts';
import { errorResult, type Progress, type ToolCall, type ToolDescriptor, type ToolResult } from '../shared/tool.ts';
import { checkArguments } from './argument-check.ts';
import type { BuiltinTools } from './builtin-tools.ts';
import type { CallApproval } from './call-approval.ts';
import { checkCallOptions } from './call-options.ts';
import type { CallOptions } from './options.ts';
import { finishResult, type ResultPolicy } from './result-finish.ts';
import { RunningCall } from './running-call.ts';
import type { SessionEventHub } from './session-events.ts';
import type { SessionTools } from './session-tools.ts';
import { ExtensionSession } from './thread/extension-session.ts';
import type { RegisteredTool } from './tool-registry.ts';

const ARGUMENT_BYTES = 16 * 1024 * 1024;

export interface SessionCallsOptions {
  readonly sessionId: string;
  readonly tools: Pick<SessionTools, 'get' | 'isActive'>;
  readonly builtins: BuiltinTools;
  readonly limits: Limits;
  readonly results: ResultPolicy;
  readonly events: Pick<SessionEventHub, 'isHeard' | 'blockedBy' | 'observeResult'>;
  /** Absent = every call is allowed. */
  readonly approve?: CallApproval;
  readonly log: (level: 'warn' | 'error', message: string, facts: JsonObject) => void;
}

/** The calls of one session: found, checked, raced against their ends, and finished. */
export class SessionCalls {
  readonly #options: SessionCallsOptions;
  /** Ended when the session is closed or restarted. */
  readonly #running = new Map<string, RunningCall>();

  constructor(options: SessionCallsOptions) {
    this.#options = options;
  }

  get inFlight(): number {
    return this.#running.size;
  }

  /** Rejects, never throws. */
  callTool(call: ToolCall, options: CallOptions): Promise<ToolResult> {
    try {
      checkCallOptions(options);
      if (options.signal?.aborted) throw abortError(`the call of ${call.name}`, options.signal);
      return this.#call(call.name, this.#argumentsOf(call), options);
    } catch (error) {
      return Promise.reject(error as ExtensionHostError);
    }
  }

  async callTools(calls: readonly ToolCall[], options: CallOptions): Promise<readonly ToolResult[]> {
    checkCallOptions(options);
    const results: (ToolResult | null)[] = calls.map(() => null);
    const run = async (call: ToolCall, index: number): Promise<void> => {
      results[index] = await this.#callInBatch(call, options);
    };
    try {
      if (calls.some(({ name }) => this.#options.tools.get(name)?.descriptor.executionMode === 'sequential')) {
        for (const [index, call] of calls.entries()) await run(call, index);
      } else {
        const settled = await Promise.allSettled(calls.map(run));
        for (const one of settled) if (one.status === 'rejected') throw one.reason;
      }
    } catch (error) {
      if (!(error instanceof ExtensionHostError) || error.code !== 'ABORTED') throw error;
      throw new ExtensionHostError('ABORTED', 'the batch was aborted', { cause: error.cause, data: { results } });
    }
    return results.filter((result) => result !== null);
  }

  /** Ends every call in flight as a `SESSION_CLOSED` result. */
  endAll(): void {
    for (const call of this.#running.values()) call.end();
  }

  tellProgress(callId: string, progress: Progress): void {
    const listener = this.#running.get(callId)?.onProgress;
    if (!listener) return;
    const { message } = progress;
    try {
      listener(
        message === undefined
          ? progress
          : { ...progress, message: this.#options.results.cutText(message, TEXT_CAPS.progressMessage) },
      );
    } catch (error) {
      this.#options.log('error', `a progress listener threw: ${messageOf(error)}`, {
        session: this.#options.sessionId,
      });
    }
  }

  async #callInBatch(call: ToolCall, options: CallOptions): Promise<ToolResult> {
    if (options.signal?.aborted) throw abortError(`the call of ${call.name}`, options.signal);
    let args: JsonObject;
    try {
      args = this.#argumentsOf(call);
    } catch (error) {
      return errorResult('INVALID_ARGUMENT', messageOf(error), { outcome: 'not-sent' });
    }
    return this.#call(call.name, args, options);
  }

  #argumentsOf({ name, arguments: given = {} }: ToolCall): JsonObject {
    const copied = isRecord(given)
      ? copyJson(given, { maxDepth: this.#options.limits.jsonDepth, maxBytes: ARGUMENT_BYTES })
      : undefined;
    if (copied?.ok && isRecord(copied.value)) return copied.value as JsonObject;
    const why = copied && !copied.ok ? copied.reason : 'they are no object';
    throw new ExtensionHostError('INVALID_ARGUMENT', `the arguments of ${name} cannot be sent: ${why}`);
  }

  #call(name: string, args: JsonObject, options: CallOptions): Promise<ToolResult> {
    const { tools, limits } = this.#options;
    const tool = tools.get(name);
    const refused = (code: ErrorCode, text: string): Promise<ToolResult> =>
      Promise.resolve(errorResult(code, text, { outcome: 'not-sent' }));
    if (!tool) return refused('UNKNOWN_TOOL', `There is no tool ${name} in this session.`);
    if (!tools.isActive(name)) return refused('TOOL_INACTIVE', `Tool ${name} is not active in this session.`);
    const problem = checkArguments(tool.descriptor.parameters, args);
    if (problem) return refused('INVALID_ARGUMENT', `The arguments of ${name} do not fit: ${problem}.`);
    // Random: an extension is told the ids of its calls, and must not guess those of others.
    const callId = randomUUID();
    const { signal, timeoutMs = limits.callTimeoutMs, onProgress, expectEpoch } = options;
    const call: RunningCall = new RunningCall({
      tool: name,
      timeoutMs,
      signal,
      onProgress,
      onResult: (result) => this.#lastLook(name, result),
      onOver: () => {
        this.#running.delete(callId);
      },
    });
    this.#running.set(callId, call);
    call.begin();
    if (call.isOver) return call.result;
    const request = { callId, tool: name, arguments: args, ...(expectEpoch === undefined ? {} : { expectEpoch }) };
    const start = (): void => this.#start(call, tool, request);
    const denial = this.#denial(call, tool.descriptor, args);
    if (denial)
      denial.then(
        (reason) => (reason === undefined ? start() : call.settle(denied(name, reason))),
        (error: unknown) => call.fail(error),
      );
    else start();
    return call.result;
  }

  #start(call: RunningCall, { descriptor, owner }: RegisteredTool, request: CallRequest): void {
    const { sessionId, builtins, results } = this.#options;
    if (owner instanceof ExtensionSession) {
      const cancel = (): void => owner.cancel(request.callId);
      call.run(
        () => owner.call(request, () => call.sent(cancel)),
        (wire) => finishResult(wire, descriptor, results),
      );
      return;
    }
    const aborting = new AbortController();
    const context = { sessionId, signal: aborting.signal };
    call.run(
      () => {
        call.sent(() => aborting.abort());
        return builtins.call(request.tool, request.arguments, context, results);
      },
      (result) => result,
    );
  }

  /**
   * Why it is not called: extensions may block a call before it is sent, and then the host program is asked; time and abort
   * of the call go on meanwhile. Without anybody to ask there is nothing to wait for.
   */
  #denial(call: RunningCall, descriptor: ToolDescriptor, args: JsonObject): Promise<string | undefined> | undefined {
    const { approve, events } = this.#options;
    return approve || events.isHeard('tool_call') ? this.#ask(call, descriptor, args) : undefined;
  }

  async #ask(call: RunningCall, descriptor: ToolDescriptor, args: JsonObject): Promise<string | undefined> {
    const { approve, events } = this.#options;
    const blocked = await events.blockedBy(descriptor.name, args);
    if (blocked !== undefined || call.isOver) return blocked;
    return approve?.denies(descriptor, args, call.over);
  }

  /** A fault's own text can hold what a thread or an extension said last. */
  #lastLook(name: string, given: ToolResult): ToolResult {
    const { events, results } = this.#options;
    const result = given.isError ? { ...given, content: results.redactContent(given.content) } : given;
    events.observeResult(name, result);
    return result;
  }
}

function denied(name: string, reason: string): ToolResult {
  return errorResult('TOOL_DENIED', `${name} was not called: ${reason}`, { outcome: 'not-sent' });
}
