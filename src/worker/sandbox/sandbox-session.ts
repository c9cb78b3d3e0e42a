import { ExtensionHostError, isErrorCode, messageOf } from '../../shared/errors.ts';
import { EVENT_NAMES, type EventName } from '../../shared/events.ts';
import {
  type ExtensionApi,
  type ExtensionContext,
  ToolExecutionError,
  type ToolExecutionResult,
  type UiQuestion,
} from '../../shared/extension-api.ts';
import { isRecord, type JsonObject, type JsonValue } from '../../shared/json.ts';
import type { SandboxLimits } from '../../shared/sandbox.ts';
import { Capabilities, type SharedCapabilities, type ToolCaller } from './capabilities.ts';
import type { Guest, GuestOptions } from './guest.ts';
import { NoteRate } from './note-rate.ts';
import { Registrations } from './registrations.ts';
import { fitResult } from './result-fit.ts';
import { RevivalBackoff } from './revival-backoff.ts';
import type { UsageCounter } from './usage.ts';

export interface SandboxSessionOptions {
  readonly api: ExtensionApi;
  readonly context: ExtensionContext;
  readonly callTool: ToolCaller;
  readonly root: string;
  /** Real path of the session's cwd. */
  readonly workspace: string;
  readonly limits: SandboxLimits;
  readonly shared: SharedCapabilities;
  readonly usage: UsageCounter;
  /** A guest with the extension's file evaluated in it. */
  readonly createGuest: (handlers: Pick<GuestOptions, 'onCall' | 'onRequest'>) => Promise<Guest>;
}

type Payload = Readonly<Record<string, unknown>>;

/**
 * One instance of a sandboxed extension: between the real API and a guest. When the guest was stopped, the next call makes a
 * new one and activates it; what it registers takes the place of what there was. One that is stopped again and again has to
 * wait for it.
 */
export class SandboxSession {
  readonly #options: SandboxSessionOptions;
  readonly #capabilities: Capabilities;
  readonly #registrations: Registrations;
  readonly #rate = new NoteRate();
  readonly #backoff = new RevivalBackoff();
  readonly #progress = new Map<number, (progress: never) => void>();
  #guest: Guest | undefined;
  #reviving: Promise<Guest> | undefined;

  constructor(options: SandboxSessionOptions) {
    this.#options = options;
    const { api, context, shared, root, callTool, usage, workspace } = options;
    this.#capabilities = new Capabilities({ shared, root, context, callTool, usage, env: api.env }, workspace);
    this.#registrations = new Registrations(api);
  }

  async activate(): Promise<void> {
    const { context } = this.#options;
    context.signal.addEventListener('abort', () => this.#end(), { once: true });
    await this.#live('startup');
  }

  #end(): void {
    this.#guest?.end(new ExtensionHostError('SESSION_CLOSED', 'the session has ended'));
    this.#options.usage.flush();
  }

  /** The session may have ended while the factory ran. */
  #endIfAborted(): void {
    if (this.#options.context.signal.aborted) this.#end();
  }

  #live(reason: 'startup' | 'recovered'): Promise<Guest> {
    if (this.#guest?.alive) return Promise.resolve(this.#guest);
    this.#reviving ??= this.#create(reason).finally(() => {
      this.#reviving = undefined;
    });
    return this.#reviving;
  }

  async #create(reason: 'startup' | 'recovered'): Promise<Guest> {
    const { createGuest, context, api } = this.#options;
    if (reason === 'recovered') await this.#backoff.wait(context.signal);
    if (context.signal.aborted) throw new ExtensionHostError('SESSION_CLOSED', 'the session has ended');
    const guest = await createGuest({
      onCall: (op, payload) => this.#call(op, isRecord(payload) ? payload : {}),
      onRequest: (op, payload, signal) => this.#request(op, payload, signal),
    });
    this.#guest = guest;
    this.#registrations.begin();
    try {
      await guest.run({
        kind: 'activate',
        api: { options: api.options, sessionId: context.sessionId },
        ctx: this.#context(context),
      });
    } catch (error) {
      guest.end(new ExtensionHostError('SESSION_CLOSED', 'its factory failed'));
      throw error;
    }
    this.#registrations.settle();
    this.#endIfAborted();
    if (reason === 'recovered') await this.#recovered(guest);
    return guest;
  }

  async #recovered(guest: Guest): Promise<void> {
    for (const callback of this.#registrations.handlersOf('session_start')) {
      await guest
        .run({ kind: 'event', callback, event: { reason: 'recovered' }, ctx: this.#context(this.#options.context) })
        .catch((error: unknown) =>
          this.#options.api.logger.warn(`a session_start handler failed: ${messageOf(error)}`),
        );
    }
  }

  #context({ sessionId, cwd, timeZone, hasUI }: ExtensionContext): JsonObject {
    return { sessionId, cwd, hasUI, ...(timeZone === undefined ? {} : { timeZone }) };
  }

  /** Every operation that is answered at once. Whatever it throws is shown to the guest as code and message. */
  #call(op: string, payload: Payload): unknown {
    const { api, usage } = this.#options;
    switch (op) {
      case 'denied':
        usage.denied('api');
        api.logger.warn({ member: String(payload['what']).slice(0, 64) }, 'refused to a sandboxed extension');
        return undefined;
      case 'tool.add':
        this.#addTool(payload);
        return undefined;
      case 'command.add':
        this.#addCommand(payload);
        return undefined;
      case 'event.add':
        this.#addHandler(payload);
        return undefined;
      case 'tool.remove':
      case 'command.remove':
      case 'event.remove':
        this.#registrations.remove(numberOf(payload['callback']));
        return undefined;
      case 'tools':
        return this.#registrations.tools;
      case 'tools.active':
        return api.getActiveTools().filter((name) => this.#registrations.tools.some((tool) => tool.name === name));
      default:
        return this.#note(op, payload);
    }
  }

  /** What goes to the host one-way: bounded here, since nothing of it may be dropped later on. */
  #note(op: string, payload: Payload): undefined {
    const { api, context } = this.#options;
    if (op === 'log') {
      this.#log(payload);
      return undefined;
    }
    this.#rate.spend();
    switch (op) {
      case 'progress':
        this.#progress.get(numberOf(payload['run']))?.(payload['progress'] as never);
        return undefined;
      case 'message':
        api.sendMessage({
          customType: String(payload['customType']),
          content: (payload['content'] ?? null) as JsonValue,
          display: payload['display'] !== false,
        });
        return undefined;
      case 'failure':
        api.reportFailure({
          ...(typeof payload['tool'] === 'string' ? { tool: payload['tool'].slice(0, 64) } : {}),
          code: isErrorCode(payload['code']) ? payload['code'] : 'PROTOCOL',
          message: String(payload['message']),
        });
        return undefined;
      case 'ui.notify':
        context.ui.notify(String(payload['text']), levelOf(payload['level']));
        return undefined;
      case 'ui.status':
        context.ui.setStatus(String(payload['key']), String(payload['text']));
        return undefined;
      default:
        throw new ExtensionHostError('PROTOCOL', `there is no operation ${op.slice(0, 64)}`);
    }
  }

  #log({ level, message, facts }: Payload): void {
    const { logger } = this.#options.api;
    const text = String(message);
    const write = level === 'debug' || level === 'warn' || level === 'error' ? level : 'info';
    if (isRecord(facts)) logger[write](facts as JsonObject, text);
    else logger[write](text);
  }

  async #request(op: string, payload: unknown, signal: AbortSignal): Promise<unknown> {
    const answer = this.#capabilities.answer(op, payload, signal);
    if (answer) return answer;
    if (!op.startsWith('ui.')) throw new ExtensionHostError('PROTOCOL', `there is no operation ${op.slice(0, 64)}`);
    return this.#ask(op, isRecord(payload) ? payload : {});
  }

  /** Questions to the person; their own limits hold on the way. */
  async #ask(op: string, payload: Payload): Promise<unknown> {
    const { title, text, options, placeholder } = payload;
    const { ui } = this.#options.context;
    switch (op) {
      case 'ui.confirm':
        return ui.confirm(String(title), ...(typeof text === 'string' ? [text] : []));
      case 'ui.select':
        return ui.select(String(title), Array.isArray(options) ? options.map(String) : []);
      case 'ui.input':
        return ui.input(String(title), ...(typeof placeholder === 'string' ? [placeholder] : []));
      case 'ui.ask':
        // The host checks it against its schema, as what any extension asks.
        return ui.ask(payload as unknown as UiQuestion);
      default:
        throw new ExtensionHostError('PROTOCOL', `there is no operation ${op.slice(0, 64)}`);
    }
  }

  #addTool({ callback, definition }: Payload): void {
    if (!isRecord(definition)) throw new ExtensionHostError('INVALID_ARGUMENT', 'registerTool needs a tool definition');
    // A sandboxed extension speaks for itself: its tools are not another server's.
    const { source: _source, execute: _execute, ...own } = definition;
    this.#registrations.addTool(
      numberOf(callback),
      own,
      (entry) => async (callId, params, signal, onUpdate, ctx) =>
        this.#execute(String(own['name']), entry, { callId, params, expectEpoch: ctx.expectEpoch }, signal, onUpdate),
    );
  }

  async #execute(
    name: string,
    entry: { readonly callback: number },
    {
      callId,
      params,
      expectEpoch,
    }: { readonly callId: string; readonly params: JsonObject; readonly expectEpoch: string | undefined },
    signal: AbortSignal,
    onUpdate: (progress: never) => void,
  ): Promise<ToolExecutionResult | string> {
    const { context, limits, usage } = this.#options;
    const guest = await this.#live('recovered');
    const ctx = { ...this.#context(context), ...(expectEpoch === undefined ? {} : { expectEpoch }) };
    let id = 0;
    try {
      const request = { kind: 'tool' as const, callback: entry.callback, callId, params, ctx };
      const returned = await guest.run(request, signal, (given) => {
        id = given;
        this.#progress.set(given, onUpdate);
      });
      return fitResult(returned, limits.resultBytes);
    } catch (error) {
      throw cutShort(name, error, limits.resultBytes);
    } finally {
      this.#progress.delete(id);
      usage.flush();
    }
  }

  #addCommand({ callback, name, description }: Payload): void {
    const { context } = this.#options;
    this.#registrations.addCommand(numberOf(callback), String(name), String(description), (entry) => async (args) => {
      const guest = await this.#live('recovered');
      const text = await guest.run({ kind: 'command', callback: entry.callback, args, ctx: this.#context(context) });
      return typeof text === 'string' ? text : '';
    });
  }

  #addHandler({ callback, event, timeoutMs }: Payload): void {
    const { context, limits, usage } = this.#options;
    const wanted = EVENT_NAMES.find((name) => name === event && SANDBOX_EVENTS.has(name));
    if (wanted === undefined) {
      usage.denied('api');
      throw new ExtensionHostError(
        'PERMISSION_DENIED',
        `the event ${String(event).slice(0, 64)} is not available to a sandboxed extension`,
      );
    }
    const boundMs = typeof timeoutMs === 'number' ? Math.min(timeoutMs, limits.callMs) : undefined;
    this.#registrations.addHandler(numberOf(callback), wanted, boundMs, async (payload) => {
      // A guest that is gone starts anew with the next call, not for an event.
      if (!this.#guest?.alive) return undefined;
      return this.#guest.run({
        kind: 'event',
        callback: numberOf(callback),
        event: payload,
        ctx: this.#context(context),
      });
    });
  }
}

const SANDBOX_EVENTS: ReadonlySet<EventName> = new Set(['session_start', 'session_shutdown', 'before_agent_start']);

/** A call that was ended from outside may have done something already. */
function cutShort(name: string, error: unknown, resultBytes: number): unknown {
  if (error instanceof ToolExecutionError) {
    const fitted = fitResult(error.result, resultBytes);
    return typeof fitted === 'string' ? new Error(fitted) : new ToolExecutionError(fitted);
  }
  if (!(error instanceof ExtensionHostError) || !ENDED.has(error.code)) return error;
  return new ToolExecutionError({
    content: [{ type: 'text', text: `${name} failed: ${error.message}.` }],
    isError: true,
    details: { outcome: 'sent-unknown', error: { code: error.code } },
  });
}

const ENDED: ReadonlySet<string> = new Set(['CALL_TIMEOUT', 'THREAD_MEMORY', 'THREAD_EXITED']);

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : -1;
}

function levelOf(value: unknown): 'info' | 'warning' | 'error' {
  return value === 'warning' || value === 'error' ? value : 'info';
}
