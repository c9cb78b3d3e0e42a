import { statSync } from 'node:fs';
import path from 'node:path';
import { abortError, ExtensionHostError, messageOf } from '../shared/errors.ts';
import type { JsonObject } from '../shared/json.ts';
import { type Limits, resolveLimits } from '../shared/limits.ts';
import { variablesOfSettings } from '../shared/mcp-options.ts';
import type { Tier } from '../shared/sandbox.ts';
import type { Failure } from '../shared/tool.ts';
import { onAbort } from './abort-listeners.ts';
import { agentDirOf } from './agent-dir.ts';
import { BuiltinTools } from './builtin-tools.ts';
import { watchDropIns } from './drop-in-watch.ts';
import { asEntry, type ExtensionSource, ExtensionSources } from './extension-sources.ts';
import { callGrantedTool } from './granted-tool-call.ts';
import { createIdentity, type HostIdentity, packageVersion, threadMark } from './host-identity.ts';
import { HostLog } from './host-log.ts';
import { HostPolicy } from './host-policy.ts';
import { inspectHost } from './inspection.ts';
import { LoopDelay } from './loop-delay.ts';
import type {
  Approve,
  ExtensionEntry,
  ExtensionHostOptions,
  HostEvents,
  HostInspection,
  SessionOptions,
} from './options.ts';
import { DiskCache } from './policy/disk-cache.ts';
import { readOperatorSettings } from './policy/operator-settings.ts';
import { addPermissionUse } from './policy/permission-use-file.ts';
import { SharedCache } from './policy/shared-cache.ts';
import { Session } from './session.ts';
import { SettingsFile } from './settings.ts';
import { ExtensionThread, type ResolvedExtension } from './thread/extension-thread.ts';
import { answerRequest, type Requester } from './thread/host-requests.ts';
import { ProcessGuard } from './thread/process-guard.ts';
import { sweepLeftovers } from './thread/startup-sweep.ts';
import type { ThreadGeneration } from './thread/thread-generation.ts';
import { Watchdog } from './thread/watchdog.ts';
import { MCP_EXTENSION } from './thread/worker-entry.ts';
import { TypedEmitter } from './typed-emitter.ts';

/** What threads get to end their last processes in, after every session was shut down. */
const THREAD_GRACE_MS = 1000;
const LEAST_GRACE_MS = 100;
/** What a sandboxed extension's thread may ask for; its engine offers no more. */
const SANDBOXED_REQUESTS: ReadonlySet<string> = new Set([
  'env.get',
  'tool.call',
  'ui.confirm',
  'ui.select',
  'ui.input',
  'question.close',
]);
/** The longest delay a timer can have; it only keeps the process alive. */
const FOREVER_MS = 2 ** 31 - 1;

/**
 * Loads extensions by path, each into a worker thread of its own, and opens sessions over them. The main thread sees plain
 * tool descriptors and results; nothing an extension does can throw into it.
 */
export class ExtensionHost {
  readonly #agentDir: string;
  readonly #limits: Limits;
  readonly #builtins: BuiltinTools;
  readonly #policy: HostPolicy;
  readonly #emitter: TypedEmitter<HostEvents>;
  readonly #log: HostLog;
  readonly #identity: HostIdentity = createIdentity();
  readonly #watchdog: Watchdog;
  readonly #guard: ProcessGuard;
  readonly #disk: DiskCache;
  readonly #cache: SharedCache;
  readonly #settings: SettingsFile;
  readonly #threads = new Map<string, ExtensionThread>();
  readonly #sessions = new Map<string, Session>();
  readonly #unresolved: (Failure & { readonly tier: Tier })[] = [];
  readonly #sources: ExtensionSources;
  readonly #origins = new WeakMap<ExtensionThread, ExtensionSource>();
  readonly #loopDelay = new LoopDelay();
  readonly #startedAt = Date.now();
  readonly #watches: boolean;
  readonly #approve: Approve | undefined;
  #endWatch: (() => void) | undefined;
  #rescanning: Promise<void> = Promise.resolve();
  #keepAlive: NodeJS.Timeout | undefined;
  #started: Promise<{ readonly failures: readonly Failure[] }> | undefined;
  #closing: Promise<void> | undefined;

  /** @throws CONFIG_INVALID with every problem of the options listed */
  constructor(options: ExtensionHostOptions = {}) {
    const { limits, problems } = resolveLimits(options.limits);
    if (problems.length > 0) {
      throw new ExtensionHostError('CONFIG_INVALID', `the host's options are not valid:\n- ${problems.join('\n- ')}`, {
        data: { problems },
      });
    }
    this.#limits = limits;
    this.#approve = options.approve;
    this.#builtins = new BuiltinTools(options.builtinTools ?? []);
    const hostEnv = options.hostEnv ?? (() => process.env);
    this.#agentDir = agentDirOf(options.agentDir, hostEnv());
    const { secrets = [], spawnPolicy } = options;
    this.#policy = new HostPolicy({
      identity: this.#identity,
      secrets,
      hostEnv,
      limits,
      ...(spawnPolicy === undefined ? {} : { spawnPolicy }),
    });
    this.#disk = new DiskCache({
      folder: path.join(this.#agentDir, 'cache'),
      version: packageVersion(),
      holdsSecret: (value) => this.#policy.redactJson(value) !== value,
      onProblem: (text) => this.#log.write('warn', text),
    });
    this.#cache = new SharedCache(this.#disk);
    this.#settings = new SettingsFile(this.#agentDir, {
      onChange: (settings) => void this.#settingsChanged(settings),
      onProblem: (text) => this.#log.write('warn', text),
    });
    this.#watches = options.watch ?? false;
    this.#sources = new ExtensionSources({
      named: options.extensions ?? [],
      folders: options.extensionDirs ?? [],
      agentDir: this.#agentDir,
      ceiling: options.ceiling ?? {},
      limits,
      // Read when it is decided: the file's own watch is half a second behind a grant.
      settings: () => readOperatorSettings(this.#agentDir),
    });
    this.#emitter = new TypedEmitter((error) =>
      this.#log.write('error', `a listener of the host threw: ${messageOf(error)}`),
    );
    this.#log = new HostLog(options.logger, this.#policy.redactor, {
      isThere: () => this.#emitter.has('log'),
      take: (record) => this.#emitter.emit('log', record),
    });
    this.#watchdog = new Watchdog(limits);
    this.#guard = new ProcessGuard({
      ownerMark: this.#identity.ownerMark,
      onProblem: (what) => this.#log.write('warn', what),
    });
  }

  /**
   * Loads every extension. One that cannot be loaded is a failure; the others run. Later calls give the same answer.
   * @throws HOST_CLOSED
   */
  start(): Promise<{ readonly failures: readonly Failure[] }> {
    this.#started ??= this.#start();
    return this.#started;
  }

  /**
   * Loads one more extension, for sessions opened from now on. Gives its id.
   * @throws EXTENSION_LOAD_FAILED, HOST_CLOSED
   */
  async load(entry: string | ExtensionEntry): Promise<string> {
    await this.start();
    this.#checkOpen();
    const thread = await this.#addSource({ entry: asEntry(entry), isDropIn: false });
    await thread.acquire();
    return thread.extension.id;
  }

  /**
   * Gives an extension a new thread with its files as they are now; open sessions get what it offers then.
   * @throws INVALID_ARGUMENT for an unknown id or path, EXTENSION_LOAD_FAILED
   */
  async reload(idOrPath: string): Promise<void> {
    await this.start();
    this.#checkOpen();
    const thread = this.#find(idOrPath);
    if (!thread) {
      await this.#loadDropIn(idOrPath);
      return;
    }
    const source = this.#origins.get(thread);
    // Its files and grants may have changed; its id is what it is known by.
    const fresh = source && (await this.#sources.resolve(source, new Set()));
    await Promise.all([...this.#sessions.values()].map((session) => session.shutdownInstance(thread, 'reload')));
    await thread.reload(fresh && { ...fresh, id: thread.extension.id });
    await Promise.all([...this.#sessions.values()].map((session) => session.reactivate(thread)));
  }

  /**
   * Opens a session: every extension is activated for it. One that fails is in `session.failures`; the others serve.
   * @throws SESSION_EXISTS, INVALID_ARGUMENT (id or cwd), ABORTED, HOST_CLOSED
   */
  async openSession(options: SessionOptions): Promise<Session> {
    await this.start();
    this.#checkOpen();
    const { id, signal } = options;
    if (signal?.aborted) throw abortError(`opening session ${id}`, signal);
    const cwd = checkWorkspace(options);
    if (this.#sessions.has(id)) {
      throw new ExtensionHostError(
        'SESSION_EXISTS',
        `session ${id} is open already; close it, or open one with another id`,
      );
    }
    const session = new Session({ ...options, cwd }, [...this.#threads.values()], {
      limits: this.#limits,
      builtins: this.#builtins,
      results: this.#policy,
      log: (level, message, facts) => this.#log.write(level, message, facts),
      onRequest: (opened, instance, generation, op, payload) =>
        this.#answer(instance.thread, generation, op, payload, opened),
      onClosed: (closed) => this.#sessions.delete(closed.id),
      ...(this.#approve === undefined ? {} : { approve: this.#approve }),
    });
    this.#sessions.set(id, session);
    await this.#openOrAbort(session, signal);
    return session;
  }

  /** Where settings, caches and deployments live; absolute. */
  get agentDir(): string {
    return this.#agentDir;
  }

  /** A snapshot, without asking any thread. `eventLoop` counts since the last one. */
  inspect(): HostInspection {
    return inspectHost({
      startedAt: this.#startedAt,
      threads: [...this.#threads.values()],
      sessions: [...this.#sessions.values()],
      unresolved: this.#unresolved,
      eventLoop: this.#loopDelay.read(),
    });
  }

  /** Subscribes; the returned function ends it. */
  on<Name extends keyof HostEvents>(event: Name, listener: (value: HostEvents[Name]) => void): () => void {
    return this.#emitter.on(event, listener);
  }

  /**
   * Ends every session, process and thread; nothing is left. Idempotent.
   * `timeoutMs` bounds the whole stop and shortens every server's own shutdown timeout.
   */
  close({ timeoutMs }: { readonly timeoutMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(timeoutMs);
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #start(): Promise<{ readonly failures: readonly Failure[] }> {
    this.#checkOpen();
    // An open host is something to wait for, with or without a thread.
    this.#settings.open();
    this.#keepAlive = setInterval(() => {}, FOREVER_MS);
    const failures: Failure[] = [];
    const starting: Promise<void>[] = [this.#sweep()];
    for (const source of this.#sources.list()) {
      try {
        const thread = await this.#addSource(source);
        starting.push(
          thread.acquire().then(
            () => {},
            (error: unknown) => void failures.push(failureOf(thread.extension.id, error)),
          ),
        );
      } catch (error) {
        const { entry, isDropIn } = source;
        const failure = failureOf(entry.path, error);
        this.#unresolved.push({ ...failure, tier: isDropIn ? 'sandboxed' : (entry.tier ?? 'trusted') });
        failures.push(failure);
        this.#log.write('error', failure.message, { extension: failure.extension });
      }
    }
    await Promise.all(starting);
    if (this.#watches && !this.#closing) {
      this.#endWatch = watchDropIns(this.#sources.folders, () => {
        this.#rescanning = this.#rescanning.then(() => this.#rescan());
      });
    }
    return { failures };
  }

  /** What killed hosts have left would stand in the way: a browser's profile takes one browser. */
  async #sweep(): Promise<void> {
    const pids = await sweepLeftovers();
    if (pids.length > 0)
      this.#log.write('warn', `ended ${pids.length} processes that a killed host had left behind`, { pids });
  }

  async #addSource(source: ExtensionSource): Promise<ExtensionThread> {
    const extension = await this.#sources.resolve(source, new Set(this.#threads.keys()));
    this.#checkOpen();
    const thread = this.#addThread(extension);
    this.#origins.set(thread, source);
    return thread;
  }

  /** A drop-in that came later, or could not be loaded before. */
  async #loadDropIn(idOrPath: string): Promise<void> {
    const source = this.#sources.findDropIn(idOrPath);
    if (!source) {
      const known = [...this.#threads.keys()].join(', ') || 'none';
      throw new ExtensionHostError('INVALID_ARGUMENT', `no extension ${idOrPath} is loaded; there are: ${known}`);
    }
    const thread = await this.#addSource(source);
    const at = this.#unresolved.findIndex(({ extension }) => extension === source.entry.path);
    if (at >= 0) this.#unresolved.splice(at, 1);
    await thread.acquire();
  }

  /** Loads the drop-ins that are new and reloads those whose files or grants changed; one that went runs until the host ends. */
  async #rescan(): Promise<void> {
    for (const source of this.#sources.list()) {
      if (!source.isDropIn || this.#closing) continue;
      const { path: location } = source.entry;
      try {
        const thread = this.#find(location);
        if (!thread) await this.#loadDropIn(location);
        else if (differs(thread.extension, await this.#sources.resolve(source, new Set()))) await this.reload(location);
      } catch (error) {
        this.#log.write('error', `the changed extension at ${location} could not be loaded: ${messageOf(error)}`);
      }
    }
  }

  /** Idle machines count as well: their memory never shrinks. */
  #admitSandbox(): void {
    const { sandboxTotalMb } = this.#limits;
    const heldKb = [...this.#threads.values()].reduce((sum, { current }) => sum + (current?.sandboxKb ?? 0), 0);
    if (heldKb < sandboxTotalMb * 1024) return;
    throw new ExtensionHostError(
      'HOST_BUSY',
      `the sandboxed extensions of this host hold ${Math.round(heldKb / 1024)} MiB, and ${sandboxTotalMb} MiB is their limit; close sessions`,
    );
  }

  #addThread(extension: ResolvedExtension): ExtensionThread {
    this.#guard.start();
    const thread = new ExtensionThread(extension, {
      limits: this.#limits,
      agentDir: this.#agentDir,
      overlapBytes: () => this.#policy.redactor.overlapBytes,
      environment: (mark) => this.#policy.workerEnvironment(mark),
      threadMark: (id, generation) => threadMark(this.#identity, id, generation),
      watchdog: this.#watchdog,
      guard: this.#guard,
      settings: () => this.#settings.current,
      onLog: (id, { level, message, facts }) => this.#log.write(level, message, { ...asFacts(facts), extension: id }),
      onRequest: (owner, generation, op, payload) => this.#answer(owner, generation, op, payload, undefined),
      onDeath: (_owner, generation) => this.#cache.release(generation),
      onState: (owner, reason) => this.#tellState(owner, reason),
      redactTable: (value) => this.#policy.redactJson(value),
      admitSandbox: () => this.#admitSandbox(),
    });
    this.#threads.set(extension.id, thread);
    return thread;
  }

  async #answer(
    thread: ExtensionThread,
    generation: ThreadGeneration,
    op: string,
    payload: unknown,
    session: Session | undefined,
  ): Promise<unknown> {
    const { id, env, tier, url } = thread.extension;
    if (tier === 'sandboxed' && !SANDBOXED_REQUESTS.has(op)) {
      throw new ExtensionHostError('PERMISSION_DENIED', `extension ${id} is sandboxed and may not ask for ${op}`);
    }
    // What the operator wrote into settings.json is granted as what he wrote into the options is.
    const mentioned = url === MCP_EXTENSION.href ? variablesOfSettings(this.#settings.current) : [];
    const requester = {
      extension: id,
      grantedEnv: [...env, ...mentioned],
      owner: generation,
      threadMark: generation.mark,
      ...(session ? { session: askingSession(session) } : {}),
    };
    return answerRequest(op, payload, requester, {
      cache: this.#cache,
      prepare: (request, asking) => this.#policy.prepare(request, asking),
      readEnv: (name) => {
        this.#log.write('info', `extension ${id} was given the host variable ${name}`, {
          extension: id,
          variable: name,
        });
        return this.#policy.readEnv(name);
      },
      callTool: (request) => callGrantedTool(request, thread.extension, session),
    });
  }

  #tellState(thread: ExtensionThread, reason: string | undefined): void {
    const { state, generation, extension } = thread;
    const said = reason === undefined ? undefined : this.#policy.redactText(reason);
    if (said !== undefined && state !== 'closed')
      this.#log.write('warn', `extension ${extension.id} is ${state}: ${said}`, { extension: extension.id });
    this.#emitter.emit('extension-state', {
      extension: extension.id,
      state,
      generation,
      ...(said === undefined ? {} : { reason: said }),
    });
  }

  async #openOrAbort(session: Session, signal: AbortSignal | undefined): Promise<void> {
    const opening = session.open();
    if (!signal) {
      await opening;
      return;
    }
    let unsubscribe = (): void => {};
    const aborted = new Promise<never>((_, reject) => {
      unsubscribe = onAbort(signal, () => reject(abortError(`opening session ${session.id}`, signal)));
    });
    try {
      await Promise.race([opening, aborted]);
    } catch (error) {
      opening.catch(() => {});
      await session.close();
      throw error;
    } finally {
      unsubscribe();
    }
  }

  /** Threads first: the event comes when `api.settings` is the new one. */
  async #settingsChanged(settings: JsonObject): Promise<void> {
    await Promise.all([...this.#threads.values()].map((thread) => thread.tellSettings(settings)));
    if (settings !== this.#settings.current) return;
    for (const session of this.#sessions.values()) session.settingsChanged(settings);
  }

  async #close(timeoutMs: number | undefined): Promise<void> {
    const startedAt = performance.now();
    this.#endWatch?.();
    await Promise.all(
      [...this.#sessions.values()].map((session) =>
        session.close('quit', timeoutMs === undefined ? {} : { timeoutMs }),
      ),
    );
    const leftMs = (timeoutMs ?? Number.POSITIVE_INFINITY) - (performance.now() - startedAt);
    const graceMs = Math.max(LEAST_GRACE_MS, Math.min(THREAD_GRACE_MS, leftMs));
    await Promise.all([...this.#threads.values()].map((thread) => thread.close(graceMs)));
    await this.#guard.quit();
    const uses = new Map(
      [...this.#threads.values()].map(({ extension, permissionUse }) => [extension.id, permissionUse]),
    );
    await addPermissionUse(this.#agentDir, uses).catch((error: unknown) =>
      this.#log.write('warn', `what extensions used could not be written down: ${messageOf(error)}`),
    );
    clearInterval(this.#keepAlive);
    this.#settings.close();
    await this.#disk.settled();
    this.#loopDelay.stop();
    this.#emitter.clear();
  }

  #find(idOrPath: string): ExtensionThread | undefined {
    const resolved = idOrPath.startsWith('file:') ? idOrPath : path.resolve(idOrPath);
    return (
      this.#threads.get(idOrPath) ??
      [...this.#threads.values()].find(({ extension }) => extension.path === resolved || extension.url === resolved)
    );
  }

  #checkOpen(): void {
    if (this.#closing) throw new ExtensionHostError('HOST_CLOSED', 'the host is closed; make a new one');
  }
}

function askingSession(session: Session): NonNullable<Requester['session']> {
  const { id, timeZone, questions } = session;
  return {
    id,
    ...(timeZone === undefined ? {} : { timeZone }),
    onSpawn: (event) => session.onSpawn(event),
    questions,
  };
}

/** @throws INVALID_ARGUMENT */
function checkWorkspace({ id, cwd, timeZone }: SessionOptions): string {
  if (typeof id !== 'string' || id === '') throw new ExtensionHostError('INVALID_ARGUMENT', 'a session needs an id');
  if (typeof cwd !== 'string' || cwd === '')
    throw new ExtensionHostError('INVALID_ARGUMENT', `session ${id} needs a cwd`);
  const absolute = path.resolve(cwd);
  if (!statSync(absolute, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ExtensionHostError(
      'INVALID_ARGUMENT',
      `the cwd of session ${id} is no folder: ${absolute}; make it first`,
    );
  }
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    throw new ExtensionHostError(
      'INVALID_ARGUMENT',
      `session ${id}: ${timeZone} is no IANA time zone, like Europe/Berlin`,
    );
  }
  return absolute;
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Whether an extension would run another way now: other files, other grants. Its id is none of it. */
function differs({ id: _id, ...now }: ResolvedExtension, { id: _other, ...then }: ResolvedExtension): boolean {
  return JSON.stringify(now) !== JSON.stringify(then);
}

function failureOf(extension: string, error: unknown): Failure {
  const code = error instanceof ExtensionHostError ? error.code : 'EXTENSION_LOAD_FAILED';
  return { extension, code, message: messageOf(error) };
}

function asFacts(facts: unknown): JsonObject {
  return typeof facts === 'object' && facts !== null ? (facts as JsonObject) : {};
}
