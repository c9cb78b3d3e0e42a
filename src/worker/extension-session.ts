import { ExtensionHostError, messageOf, toWireError } from '../shared/errors.ts';
import type { EventName, EventPayload } from '../shared/events.ts';
import type { CommandDefinition, ExtensionContext, ExtensionFactory } from '../shared/extension-api.ts';
import type { MessagePortLike } from '../shared/port-endpoint.ts';
import {
  type CallRequest,
  type Commit,
  LOSSY_NOTES,
  type Outcome,
  type SessionNote,
  type SessionOpening,
  type SessionRemote,
  type ToolSnapshot,
  type ToolTable,
  type WireToolResult,
} from '../shared/protocol.ts';
import { cutWithOverlap, TEXT_CAPS } from '../shared/text-caps.ts';
import type { Failure } from '../shared/tool.ts';
import type { Instance } from './boot-loader.ts';
import { CallRunner } from './call-runner.ts';
import { EventHandlers } from './event-handlers.ts';
import { createExtensionApi } from './extension-api-object.ts';
import { HostClient } from './host-client.ts';
import { Questions } from './questions.ts';
import type { ThreadServices } from './thread-services.ts';
import { ToolTableBuilder } from './tool-table.ts';

const FAILURES_KEPT = 200;
/** Tables that were committed lately: the host asks for one by its digest, a moment after the commit. */
const TABLES_KEPT = 4;

/**
 * One instance of the factory: a session's side in the thread. Registration is transactional: what the factory registered
 * counts when it has resolved; later changes commit by themselves, batched per tick.
 */
export class ExtensionSession implements SessionRemote {
  readonly #services: ThreadServices;
  readonly #port: MessagePortLike;
  readonly #life = new AbortController();
  readonly #host: HostClient;
  readonly #tools: ToolTableBuilder;
  readonly #events: EventHandlers;
  readonly #commands = new Map<string, CommandDefinition>();
  readonly #context: ExtensionContext;
  readonly #calls: CallRunner;
  readonly #opening: SessionOpening;
  readonly #committed = new Map<string, ToolTable>();
  #failures: Omit<Failure, 'extension'>[] = [];
  #snapshot: ToolSnapshot;
  /** `activating`: the factory runs. `live`: changes are told to the host. `dead`: what comes late is ignored. */
  #state: 'activating' | 'live' | 'dead' = 'activating';
  #commitScheduled = false;

  constructor(opening: SessionOpening, port: MessagePortLike, services: ThreadServices) {
    this.#opening = opening;
    this.#port = port;
    this.#services = services;
    this.#snapshot = opening.snapshot;
    this.#host = new HostClient(port, services.budget);
    this.#tools = new ToolTableBuilder(services.limits);
    this.#events = new EventHandlers(services.log, services.limits.eventHandlerMs);
    this.#context = this.#createContext();
    this.#calls = new CallRunner({
      tools: this.#tools,
      context: this.#context,
      limits: services.limits,
      overlapBytes: services.overlapBytes,
      onProgress: (callId, progress) => this.#note({ type: 'progress', callId, progress }),
    });
  }

  /** What the extension is told of this session. */
  get instance(): Instance {
    return { context: this.#context, callTool: (request) => this.#host.request('tool.call', request) };
  }

  /** Runs the factory. @throws ACTIVATION_TIMEOUT, or whatever the factory threw; nothing is registered then */
  async activate(factory: ExtensionFactory): Promise<Commit> {
    const { factoryMs } = this.#services.limits;
    let timer: NodeJS.Timeout | undefined;
    try {
      await Promise.race([
        (async () => factory(this.#createApi()))(),
        new Promise<never>((_, reject) => {
          const late = `the factory did not end within ${factoryMs / 1000} s; what it registered is discarded`;
          timer = setTimeout(() => reject(new ExtensionHostError('ACTIVATION_TIMEOUT', late)), factoryMs);
        }),
      ]);
      if (this.#state === 'dead')
        throw new ExtensionHostError('SESSION_CLOSED', 'the session was closed while the extension activated');
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      clearTimeout(timer);
    }
    this.#state = 'live';
    return this.#takeCommit();
  }

  async table(digest: string): Promise<Outcome<ToolTable>> {
    const table = this.#committed.get(digest);
    // Then a newer commit is on its way, and the host asks for that one.
    if (!table) return failed(new ExtensionHostError('PROTOCOL', 'the tool table has changed meanwhile'), 'PROTOCOL');
    return { ok: true, value: table };
  }

  async call(request: CallRequest): Promise<Outcome<WireToolResult>> {
    return { ok: true, value: await this.#calls.run(request) };
  }

  async cancel(callId: string): Promise<void> {
    this.#calls.cancel(callId);
  }

  async command(name: string, args: string): Promise<Outcome<string>> {
    const command = this.#commands.get(name);
    if (!command)
      return failed(new ExtensionHostError('INVALID_ARGUMENT', `there is no command ${name}`), 'INVALID_ARGUMENT');
    try {
      const text: unknown = await command.handler(args, this.#context);
      return {
        ok: true,
        value: typeof text === 'string' ? this.#cut(text, this.#services.limits.textBytes) : '',
      };
    } catch (error) {
      return failed(error, 'INVALID_ARGUMENT');
    } finally {
      // What the command changed goes before its answer.
      this.#commitNow();
    }
  }

  async emit(event: EventName, payload: EventPayload): Promise<Outcome<EventPayload>> {
    return { ok: true, value: await this.#events.emit(event, payload, this.#context) };
  }

  async snapshot(snapshot: ToolSnapshot): Promise<void> {
    this.#snapshot = snapshot;
  }

  async answer(id: number, outcome: Outcome<unknown>): Promise<void> {
    this.#host.answer(id, outcome);
  }

  async close(): Promise<void> {
    if (this.#state === 'dead') return;
    this.#state = 'dead';
    const ended = new ExtensionHostError('SESSION_CLOSED', `session ${this.#opening.sessionId} has ended`);
    this.#calls.cancelAll();
    this.#events.clear();
    this.#commands.clear();
    this.#life.abort(ended);
    this.#host.close(ended);
  }

  #createApi(): ReturnType<typeof createExtensionApi> {
    const { sessionId } = this.#opening;
    return createExtensionApi(this.#services, {
      sessionId,
      registerTool: (definition) => {
        if (this.#state === 'dead') return () => {};
        const refused = this.#tools.add(definition);
        if (refused) {
          this.#fail(refused);
          return () => {};
        }
        this.#changed();
        const { name } = definition;
        return () => {
          if (this.#state === 'dead') return;
          this.#tools.remove(name);
          this.#changed();
        };
      },
      registerCommand: (name, command) => {
        if (this.#state === 'dead') return () => {};
        if (this.#commands.has(name)) {
          this.#fail({ code: 'NAME_TAKEN', message: `command ${name} is registered already; the first one stays` });
          return () => {};
        }
        this.#commands.set(name, command);
        this.#changed();
        return () => {
          if (this.#commands.delete(name)) this.#changed();
        };
      },
      on: (event, handler, timeoutMs) => {
        const remove = this.#state === 'dead' ? undefined : this.#events.add(event, handler, timeoutMs);
        if (!remove) {
          this.#services.log.warn(
            { event: String(event) },
            `this version has no event ${String(event)}; its handler will not be called`,
          );
          return () => {};
        }
        this.#changed();
        return () => {
          remove();
          this.#changed();
        };
      },
      tools: () => this.#snapshotWithOwn(),
      setActiveTools: (names) => {
        this.#snapshot = { ...this.#snapshot, active: [...names] };
        this.#note({ type: 'active-tools', names: [...names] });
      },
      sendMessage: (customType, content, display) => this.#note({ type: 'message', customType, content, display }),
      reportFailure: (failure) => this.#fail(failure),
    });
  }

  /** The host's snapshot, and while the factory runs what it has registered itself. */
  #snapshotWithOwn(): ToolSnapshot {
    if (this.#state !== 'activating') return this.#snapshot;
    const own = this.#tools.wireTools.map(({ name, source }) => ({
      name,
      source: { kind: 'extension' as const, extension: '', ...source },
    }));
    return {
      tools: [...this.#snapshot.tools, ...own],
      active: [...this.#snapshot.active, ...own.map(({ name }) => name)],
    };
  }

  #createContext(): ExtensionContext {
    const { sessionId, cwd, timeZone, hasUI, canSample } = this.#opening;
    const questions = new Questions(this.#host, this.#opening, this.#services);
    return {
      sessionId,
      cwd,
      ...(timeZone === undefined ? {} : { timeZone }),
      signal: this.#life.signal,
      hasUI,
      canSample,
      sample: (request, options) => questions.sample(request, options),
      processes: {
        prepare: (request) => this.#host.request('process.prepare', { ...request, args: [...request.args] }),
      },
      ui: {
        ...questions.ui,
        notify: (text, level = 'info') =>
          this.#note({ type: 'notify', level, text: this.#cut(text, TEXT_CAPS.notice) }),
        setStatus: (key, text) =>
          this.#note({ type: 'status', key: String(key).slice(0, 64), text: this.#cut(text, TEXT_CAPS.status) }),
      },
    };
  }

  /** Cuts behind the cap; the host cuts at it, when secrets are out. */
  #cut(text: unknown, maxCharacters: number): string {
    return cutWithOverlap(String(text), maxCharacters, this.#services.overlapBytes);
  }

  #fail(failure: Omit<Failure, 'extension'>): void {
    if (this.#state === 'dead') return;
    this.#services.log.warn({ ...failure }, failure.message);
    if (this.#state === 'live') this.#note({ type: 'failure', failure });
    else if (this.#failures.length < FAILURES_KEPT) this.#failures.push(failure);
  }

  #changed(): void {
    if (this.#state !== 'live' || this.#commitScheduled) return;
    this.#commitScheduled = true;
    setImmediate(() => this.#commitNow());
  }

  #commitNow(): void {
    if (!this.#commitScheduled) return;
    this.#commitScheduled = false;
    if (this.#state === 'live') this.#note({ type: 'commit', commit: this.#takeCommit() });
  }

  #takeCommit(): Commit {
    const failures = this.#failures;
    this.#failures = [];
    const { digest, table } = this.#tools.snapshot();
    this.#committed.delete(digest);
    this.#committed.set(digest, table);
    for (const old of [...this.#committed.keys()].slice(0, -TABLES_KEPT)) this.#committed.delete(old);
    return {
      digest,
      commands: [...this.#commands].map(([name, { description }]) => ({ name, description: String(description) })),
      events: this.#events.announced,
      failures,
    };
  }

  #note(note: SessionNote): void {
    if (this.#state === 'dead' || (LOSSY_NOTES.has(note.type) && !this.#services.credit.take())) return;
    this.#port.postMessage({ note });
  }
}

function failed(
  error: unknown,
  fallback: 'PROTOCOL' | 'INVALID_ARGUMENT',
): { ok: false; error: ReturnType<typeof toWireError> } {
  return { ok: false, error: toWireError(error instanceof Error ? error : new Error(messageOf(error)), fallback) };
}
