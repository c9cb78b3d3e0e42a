import { randomUUID } from 'node:crypto';
import { abortError, ExtensionHostError, messageOf } from '../shared/errors.ts';
import { isRecord, type JsonObject } from '../shared/json.ts';
import { copyJson } from '../shared/json-copy.ts';
import type { Limits } from '../shared/limits.ts';
import { TEXT_CAPS } from '../shared/text-caps.ts';
import { errorResult, type Progress, type ToolCall, type ToolDescriptor, type ToolResult } from '../shared/tool.ts';
import { checkArguments } from './argument-check.ts';
import type { BuiltinTools } from './builtin-tools.ts';
import type { CallApproval } from './call-approval.ts';
import { runCall } from './call-race.ts';
import type { CallOptions } from './options.ts';
import { finishResult, type ResultPolicy } from './result-finish.ts';
import type { SessionEventHub } from './session-events.ts';
import { ExtensionSession } from './thread/extension-session.ts';
import type { RegisteredTool, ToolRegistry } from './tool-registry.ts';

const ARGUMENT_BYTES = 16 * 1024 * 1024;

export interface SessionCallsOptions {
  readonly sessionId: string;
  readonly registry: ToolRegistry;
  readonly builtins: BuiltinTools;
  readonly limits: Limits;
  readonly results: ResultPolicy;
  readonly events: Pick<SessionEventHub, 'blockedBy' | 'observeResult'>;
  readonly isActive: (name: string) => boolean;
  /** Absent = every call is allowed. */
  readonly approve?: CallApproval;
  readonly log: (level: 'warn' | 'error', message: string, facts: JsonObject) => void;
}

/** The calls of one session: found, checked, raced against their ends, and finished. */
export class SessionCalls {
  readonly #options: SessionCallsOptions;
  readonly #progress = new Map<string, (progress: Progress) => void>();
  /** Ends the calls in flight; a restart puts a new one in its place. */
  #era = new AbortController();
  inFlight = 0;

  constructor(options: SessionCallsOptions) {
    this.#options = options;
  }

  async callTool(call: ToolCall, options: CallOptions): Promise<ToolResult> {
    if (options.signal?.aborted) throw abortError(`the call of ${call.name}`, options.signal);
    return this.#call(call.name, this.#argumentsOf(call), options);
  }

  async callTools(calls: readonly ToolCall[], options: CallOptions): Promise<readonly ToolResult[]> {
    const results: (ToolResult | null)[] = calls.map(() => null);
    const run = async (call: ToolCall, index: number): Promise<void> => {
      results[index] = await this.#callInBatch(call, options);
    };
    try {
      if (calls.some(({ name }) => this.#options.registry.get(name)?.descriptor.executionMode === 'sequential')) {
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
    this.#era.abort();
    this.#era = new AbortController();
  }

  tellProgress(callId: string, progress: Progress): void {
    const listener = this.#progress.get(callId);
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

  async #call(name: string, args: JsonObject, options: CallOptions): Promise<ToolResult> {
    const { registry, isActive } = this.#options;
    const tool = registry.get(name);
    if (!tool) return errorResult('UNKNOWN_TOOL', `There is no tool ${name} in this session.`, { outcome: 'not-sent' });
    if (!isActive(name))
      return errorResult('TOOL_INACTIVE', `Tool ${name} is not active in this session.`, { outcome: 'not-sent' });
    const problem = checkArguments(tool.descriptor.parameters, args);
    if (problem)
      return errorResult('INVALID_ARGUMENT', `The arguments of ${name} do not fit: ${problem}.`, {
        outcome: 'not-sent',
      });
    const callId = randomUUID();
    if (options.onProgress) this.#progress.set(callId, options.onProgress);
    this.inFlight += 1;
    try {
      const result = this.#withoutSecrets(await this.#race(callId, tool, args, options));
      this.#options.events.observeResult(name, result);
      return result;
    } finally {
      this.inFlight -= 1;
      this.#progress.delete(callId);
    }
  }

  /** A fault's own text can hold what a thread or an extension said last. */
  #withoutSecrets(result: ToolResult): ToolResult {
    if (!result.isError) return result;
    return { ...result, content: this.#options.results.redactContent(result.content) };
  }

  /**
   * Extensions may block a call before it is sent, and then the host program is asked; time and abort of the call go on
   * meanwhile.
   */
  async #blocked(
    descriptor: ToolDescriptor,
    args: JsonObject,
    over: AbortSignal | undefined,
  ): Promise<ToolResult | undefined> {
    const { name } = descriptor;
    const { approve, events } = this.#options;
    const reason =
      (await events.blockedBy(name, args)) ??
      (over === undefined || over.aborted ? undefined : await approve?.denies(descriptor, args, over));
    if (reason === undefined) return undefined;
    return errorResult('TOOL_DENIED', `${name} was not called: ${reason}`, { outcome: 'not-sent' });
  }

  async #race(
    callId: string,
    { descriptor, owner }: RegisteredTool,
    args: JsonObject,
    options: CallOptions,
  ): Promise<ToolResult> {
    const { sessionId, builtins, limits, results } = this.#options;
    const { name } = descriptor;
    const { signal, timeoutMs = limits.callTimeoutMs, expectEpoch } = options;
    // Only for whoever is asked: a controller and its abort cost as much main-thread time as the hop itself.
    const over = this.#options.approve && new AbortController();
    const race = { tool: name, timeoutMs, signal, ended: this.#era.signal, over: () => over?.abort() };
    if (!(owner instanceof ExtensionSession)) {
      const aborting = new AbortController();
      const work = async (sent: () => void): Promise<ToolResult> => {
        const blocked = await this.#blocked(descriptor, args, over?.signal);
        if (blocked) return blocked;
        sent();
        return builtins.call(name, args, { sessionId, signal: aborting.signal }, results);
      };
      return runCall({ ...race, work, cancel: () => aborting.abort() });
    }
    const request = { callId, tool: name, arguments: args, ...(expectEpoch === undefined ? {} : { expectEpoch }) };
    const work = async (sent: () => void): Promise<ToolResult> =>
      (await this.#blocked(descriptor, args, over?.signal)) ??
      finishResult(await owner.call(request, sent), descriptor, results);
    return runCall({ ...race, work, cancel: () => owner.cancel(callId) });
  }
}
