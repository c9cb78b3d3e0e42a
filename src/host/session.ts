import { ExtensionHostError, messageOf } from '../shared/errors.ts';
import type {
  CloseReason,
  ProcessSpawnChange,
  ProcessSpawnEvent,
  RestartReason,
  SessionStartReason,
} from '../shared/events.ts';
import type { JsonObject } from '../shared/json.ts';
import type { Limits } from '../shared/limits.ts';
import type { Commit, SessionNote, SessionOpening, ToolSnapshot } from '../shared/protocol.ts';
import { TEXT_CAPS } from '../shared/text-caps.ts';
import type { Failure, ToolCall, ToolDescriptor, ToolResult } from '../shared/tool.ts';
import type { BuiltinTools } from './builtin-tools.ts';
import { CallApproval } from './call-approval.ts';
import type { Approve, CallOptions, CommandInfo, SessionEvents, SessionOptions } from './options.ts';
import type { ResultPolicy } from './result-finish.ts';
import { SessionCalls } from './session-calls.ts';
import { SessionEventHub } from './session-events.ts';
import { SessionFailures } from './session-failures.ts';
import { SessionQuestions } from './session-questions.ts';
import { SessionTools } from './session-tools.ts';
import { ExtensionSession } from './thread/extension-session.ts';
import type { ExtensionThread } from './thread/extension-thread.ts';
import type { ThreadGeneration } from './thread/thread-generation.ts';
import { TypedEmitter } from './typed-emitter.ts';
import type { WorkflowCatalog } from './workflow/capability.ts';
import { SessionExecutor } from './workflow/session-executor.ts';
import type { ToolExecutor } from './workflow/tool-executor.ts';

export interface SessionServices {
  readonly limits: Limits;
  readonly builtins: BuiltinTools;
  readonly results: ResultPolicy;
  readonly log: (level: 'warn' | 'error', message: string, facts: JsonObject) => void;
  readonly onRequest: (
    session: Session,
    instance: ExtensionSession,
    generation: ThreadGeneration,
    op: string,
    payload: unknown,
  ) => Promise<unknown>;
  readonly onClosed: (session: Session) => void;
  readonly approve?: Approve;
}

/** One chat or run: the tools its extensions offer, and the calls of them. Made by `ExtensionHost.openSession`. */
export class Session {
  readonly id: string;
  /** Absolute. */
  readonly cwd: string;
  readonly timeZone: string | undefined;
  readonly openedAt = new Date();
  /** Calls tools by connection on this session's processes: what workflow code depends on. */
  readonly executor: ToolExecutor = new SessionExecutor(this);
  readonly #services: SessionServices;
  readonly #tools: SessionTools;
  readonly #instances: ExtensionSession[];
  readonly #emitter: TypedEmitter<SessionEvents>;
  readonly #failures: SessionFailures;
  readonly #events: SessionEventHub;
  readonly #calls: SessionCalls;
  /** @internal */
  readonly questions: SessionQuestions;
  #opening = true;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(
    options: SessionOptions & { readonly cwd: string },
    threads: readonly ExtensionThread[],
    services: SessionServices,
  ) {
    this.id = options.id;
    this.cwd = options.cwd;
    this.timeZone = options.timeZone;
    this.#services = services;
    this.#emitter = new TypedEmitter((error) =>
      services.log('error', `a listener of session ${this.id} threw: ${messageOf(error)}`, {}),
    );
    this.#emitter.hold();
    const { builtins, limits, results, log } = services;
    this.#tools = new SessionTools(builtins, options.activeTools, () => this.#tellTools());
    this.#failures = new SessionFailures({ sessionId: this.id, limits, results, log });
    this.#events = new SessionEventHub({ sessionId: this.id, instances: () => this.#instances, results, log });
    this.questions = new SessionQuestions({ ...options, limits, results, log });
    this.#calls = new SessionCalls({
      sessionId: options.id,
      tools: this.#tools,
      builtins,
      limits,
      results,
      log,
      events: this.#events,
      ...(services.approve === undefined ? {} : { approve: new CallApproval(services.approve, this, limits) }),
    });
    this.#instances = threads.map(
      (thread) =>
        new ExtensionSession(thread, {
          opening: () => this.#describe(),
          onNote: (instance, note) => this.#take(instance, note),
          onCommit: (instance, commit) => this.#commit(instance, commit),
          onRequest: (instance, generation, op, payload) => services.onRequest(this, instance, generation, op, payload),
        }),
    );
  }

  /** Every tool that is offered: built-ins, then by extension in load order. Frozen; `tools-changed` tells of a new list. */
  get tools(): readonly ToolDescriptor[] {
    return this.#tools.list;
  }

  /** Names of the tools that can be called. */
  get activeTools(): readonly string[] {
    return this.#tools.activeNames;
  }

  /** The active tools as capabilities, `<connectionId>.<tool>`; see `caldera/workflow`. */
  get catalog(): WorkflowCatalog {
    return this.#tools.catalog;
  }

  get commands(): readonly CommandInfo[] {
    return this.#instances.flatMap((instance) => instance.commands);
  }

  /** What could not be offered, and why. */
  get failures(): readonly Failure[] {
    return this.#failures.list;
  }

  /** Calls that have not ended. */
  get inFlight(): number {
    return this.#calls.inFlight;
  }

  /** Subscribes; the returned function ends it. A listener that throws is logged. */
  on<Name extends keyof SessionEvents>(event: Name, listener: (value: SessionEvents[Name]) => void): () => void {
    return this.#emitter.on(event, listener);
  }

  /**
   * Calls a tool. Whatever fails behind it is a result with `isError` and `details.error.code`.
   * @throws INVALID_ARGUMENT (arguments that are no object), ABORTED, SESSION_CLOSED
   */
  callTool(call: ToolCall, options: CallOptions = {}): Promise<ToolResult> {
    return this.#closing ? Promise.reject(this.#closedError()) : this.#calls.callTool(call, options);
  }

  /**
   * Calls a model's batch: in order when any of the tools is sequential, else all at once. A bad entry fails alone.
   * @throws ABORTED with what had finished in `data.results` (`null` for the others), SESSION_CLOSED
   */
  async callTools(calls: readonly ToolCall[], options: CallOptions = {}): Promise<readonly ToolResult[]> {
    this.#checkOpen();
    return this.#calls.callTools(calls, options);
  }

  /** Sections for the system prompt, by key; later extensions win. A handler that fails is logged and skipped. */
  async beforeAgentStart({ prompt }: { readonly prompt: string }): Promise<{ sections: Record<string, string> }> {
    this.#checkOpen();
    return { sections: await this.#events.promptSections(prompt, this.activeTools) };
  }

  /** Runs a command of an extension. @throws INVALID_ARGUMENT for an unknown one, or what its handler threw */
  async runCommand(name: string, args = ''): Promise<{ readonly text: string }> {
    this.#checkOpen();
    const instance = this.#instances.find(({ commands }) => commands.some((command) => command.name === name));
    if (!instance) {
      const known = this.commands.map((command) => command.name).join(', ') || 'none';
      throw new ExtensionHostError('INVALID_ARGUMENT', `session ${this.id} has no command ${name}; it has: ${known}`);
    }
    const { limits, results } = this.#services;
    try {
      return { text: results.cutText(await instance.command(name, args, limits.commandMs), limits.textBytes) };
    } catch (error) {
      const { code, message, data } = asHostError(error);
      throw new ExtensionHostError(
        code,
        results.redactText(message),
        data === undefined ? {} : { data: results.redactJson(data) },
      );
    }
  }

  /** The conversation goes on elsewhere: `session_shutdown(reason)`, then `session_start(reason)` on the same instances. */
  async restart(reason: RestartReason): Promise<void> {
    this.#checkOpen();
    this.#calls.endAll();
    this.questions.endAll();
    await this.#shutdown(reason, undefined);
    await this.#started(reason);
  }

  /** Ends the session and everything it started. Idempotent. `timeoutMs` shortens the stop. */
  close(reason: CloseReason = 'quit', { timeoutMs }: { readonly timeoutMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(reason, timeoutMs);
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @internal Activates every extension at once, then registers in load order. */
  async open(): Promise<void> {
    const activated = await Promise.allSettled(this.#instances.map((instance) => instance.activate()));
    for (const [index, outcome] of activated.entries()) {
      const instance = this.#instances[index];
      if (!instance) continue;
      if (outcome.status === 'fulfilled') this.#register(instance);
      else this.#failed(instance, outcome.reason);
    }
    this.#opening = false;
    this.#checkOpen();
    this.#tellSnapshots();
    await this.#started('startup');
    // Nobody has the session yet: what extensions said so far waits until its opener had a turn to subscribe.
    this.#emitter.releaseSoon();
  }

  /** @internal Asks the handlers of `process_spawn`. */
  onSpawn(event: ProcessSpawnEvent): Promise<ProcessSpawnChange['env']> {
    return this.#events.onSpawn(event);
  }

  /** @internal */
  settingsChanged(settings: JsonObject): void {
    this.#events.observe('settings_changed', { settings });
  }

  /** @internal The extension has a new thread: its instance is activated there now, so that new tools show. */
  async reactivate(thread: ExtensionThread): Promise<void> {
    const instance = this.#instances.find((one) => one.thread === thread);
    if (instance && !this.#closing) await instance.activate().catch((error: unknown) => this.#failed(instance, error));
  }

  /** @internal Runs `session_shutdown` of one extension only, before its thread is replaced. */
  async shutdownInstance(thread: ExtensionThread, reason: CloseReason): Promise<void> {
    const instance = this.#instances.find((one) => one.thread === thread);
    if (instance) await this.#events.emit(instance, 'session_shutdown', { reason });
  }

  async #close(reason: CloseReason, timeoutMs: number | undefined): Promise<void> {
    const closed = this.#closedError();
    this.#calls.endAll();
    this.questions.endAll();
    await this.#shutdown(reason, timeoutMs);
    for (const instance of this.#instances) instance.close(closed);
    this.#emitter.clear();
    this.#services.onClosed(this);
  }

  async #shutdown(reason: RestartReason | CloseReason, timeoutMs: number | undefined): Promise<void> {
    const payload = { reason, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    // At once: each has processes of its own to wait for.
    await Promise.all(
      this.#instances.map((instance) => this.#events.emit(instance, 'session_shutdown', payload, timeoutMs)),
    );
  }

  async #started(reason: SessionStartReason): Promise<void> {
    for (const instance of this.#instances) await this.#events.emit(instance, 'session_start', { reason });
  }

  #take(instance: ExtensionSession, note: Exclude<SessionNote, { type: 'commit' }>): void {
    const extension = instance.thread.extension.id;
    const { cutText, redactJson } = this.#services.results;
    switch (note.type) {
      case 'progress':
        this.#calls.tellProgress(note.callId, note.progress);
        break;
      case 'notify':
        this.#emitter.emit('notify', { level: note.level, text: cutText(note.text, TEXT_CAPS.notice), extension });
        break;
      case 'status':
        this.#emitter.emit('status', { key: note.key, text: cutText(note.text, TEXT_CAPS.status), extension });
        break;
      case 'message':
        this.#emitter.emit('message', {
          customType: note.customType,
          content: redactJson(note.content),
          display: note.display,
          extension,
        });
        break;
      case 'active-tools':
        this.#tools.setActive(note.names);
        break;
      case 'failure':
        this.#failures.add(extension, [note.failure]);
        break;
    }
  }

  #commit(instance: ExtensionSession, commit: Commit): void {
    const extension = instance.thread.extension.id;
    this.#failures.add(extension, commit.failures);
    // At opening the order of loading decides, not who was first to activate.
    if (!this.#opening) this.#register(instance);
  }

  #register(instance: ExtensionSession): void {
    this.#failures.addRefused(instance.thread.extension.id, this.#tools.set(instance, instance.table));
    if (!this.#opening) this.#tools.changed();
  }

  #failed(instance: ExtensionSession, error: unknown): void {
    this.#failures.addExtension(instance.thread.extension.id, asHostError(error));
  }

  #tellTools(): void {
    if (this.#closing) return;
    const { tools, active } = this.#tellSnapshots();
    this.#emitter.emit('tools-changed', this.tools);
    this.#events.observe('tools_changed', { tools, activeTools: active });
  }

  #tellSnapshots(): ToolSnapshot {
    const { snapshot } = this.#tools;
    for (const instance of this.#instances) instance.tellSnapshot(snapshot);
    return snapshot;
  }

  #describe(): SessionOpening {
    return {
      sessionId: this.id,
      cwd: this.cwd,
      ...(this.timeZone === undefined ? {} : { timeZone: this.timeZone }),
      hasUI: this.questions.hasUI,
      canSample: this.questions.canSample,
      snapshot: this.#tools.openingSnapshot,
    };
  }

  #checkOpen(): void {
    if (this.#closing) throw this.#closedError();
  }

  #closedError(): ExtensionHostError {
    return new ExtensionHostError('SESSION_CLOSED', `session ${this.id} is closed; open a new one`);
  }
}

function asHostError(error: unknown): ExtensionHostError {
  return error instanceof ExtensionHostError
    ? error
    : new ExtensionHostError('EXTENSION_LOAD_FAILED', messageOf(error));
}
