import path from 'node:path';
import { abortError, ExtensionHostError, messageOf } from '../shared/errors.ts';
import type { JsonObject } from '../shared/json.ts';
import { type Limits, resolveLimits } from '../shared/limits.ts';
import { LONGEST_TIMER_MS } from '../shared/longest-timer.ts';
import type { Failure } from '../shared/tool.ts';
import { onAbort } from './abort-listeners.ts';
import { agentDirOf } from './agent-dir.ts';
import { BuiltinTools } from './builtin-tools.ts';
import { asEntry, ExtensionSources } from './extension-sources.ts';
import { createIdentity, type HostIdentity, packageVersion, threadMark } from './host-identity.ts';
import { HostLog } from './host-log.ts';
import { HostPolicy } from './host-policy.ts';
import { inspectHost } from './inspection.ts';
import { LoadedExtensions } from './loaded-extensions.ts';
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
import { ProcessGuard } from './thread/process-guard.ts';
import { sweepLeftovers } from './thread/startup-sweep.ts';
import { Watchdog } from './thread/watchdog.ts';
import { ThreadRequests } from './thread-requests.ts';
import { TypedEmitter } from './typed-emitter.ts';
import { checkWorkspace } from './workspace-check.ts';

/** What threads get to end their last processes in, after every session was shut down. */
const THREAD_GRACE_MS = 1000;
const LEAST_GRACE_MS = 100;

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
  readonly #extensions: LoadedExtensions;
  readonly #requests: ThreadRequests;
  readonly #sessions = new Map<string, Session>();
  readonly #loopDelay = new LoopDelay();
  readonly #startedAt = Date.now();
  readonly #watches: boolean;
  readonly #approve: Approve | undefined;
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
    const sources = new ExtensionSources({
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
    this.#requests = new ThreadRequests({
      cache: this.#cache,
      policy: this.#policy,
      settings: this.#settings,
      log: this.#log,
    });
    this.#extensions = new LoadedExtensions({
      sources,
      log: this.#log,
      createThread: (extension) => this.#createThread(extension),
      checkOpen: () => this.#checkOpen(),
      reload: (thread) => this.#reload(thread),
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
    const thread = await this.#extensions.add({ entry: asEntry(entry), isDropIn: false });
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
    const thread = this.#extensions.find(idOrPath);
    if (thread) await this.#reload(thread);
    else await this.#extensions.loadDropIn(idOrPath);
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
    const session = new Session({ ...options, cwd }, this.#extensions.threads, {
      limits: this.#limits,
      builtins: this.#builtins,
      results: this.#policy,
      log: (level, message, facts) => this.#log.write(level, message, facts),
      onRequest: (opened, instance, generation, op, payload) =>
        this.#requests.answer(instance.thread, generation, op, payload, opened),
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
      threads: this.#extensions.threads,
      sessions: [...this.#sessions.values()],
      unresolved: this.#extensions.unresolved,
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
    this.#keepAlive = setInterval(() => {}, LONGEST_TIMER_MS);
    if (this.#watches) {
      // Before anything is read: what changes after that is seen.
      await this.#extensions.watch();
      this.#checkOpen();
    }
    const [failures] = await Promise.all([this.#extensions.startAll(), this.#sweep()]);
    return { failures };
  }

  /** A new thread with the files and grants as they are now; what sessions are offered follows. */
  async #reload(thread: ExtensionThread): Promise<void> {
    const fresh = await this.#extensions.resolveAnew(thread);
    const sessions = [...this.#sessions.values()];
    await Promise.all(sessions.map((session) => session.shutdownInstance(thread, 'reload')));
    await thread.reload(fresh);
    await Promise.all([...this.#sessions.values()].map((session) => session.reactivate(thread)));
  }

  /** What killed hosts have left would stand in the way: a browser's profile takes one browser. */
  async #sweep(): Promise<void> {
    const pids = await sweepLeftovers();
    if (pids.length > 0)
      this.#log.write('warn', `ended ${pids.length} processes that a killed host had left behind`, { pids });
  }

  /** Idle machines count as well: their memory never shrinks. */
  #admitSandbox(): void {
    const { sandboxTotalMb } = this.#limits;
    const heldKb = this.#extensions.threads.reduce((sum, { current }) => sum + (current?.sandboxKb ?? 0), 0);
    if (heldKb < sandboxTotalMb * 1024) return;
    throw new ExtensionHostError(
      'HOST_BUSY',
      `the sandboxed extensions of this host hold ${Math.round(heldKb / 1024)} MiB, and ${sandboxTotalMb} MiB is their limit; close sessions`,
    );
  }

  #createThread(extension: ResolvedExtension): ExtensionThread {
    this.#guard.start();
    return new ExtensionThread(extension, {
      limits: this.#limits,
      agentDir: this.#agentDir,
      overlapBytes: () => this.#policy.redactor.overlapBytes,
      environment: (mark) => this.#policy.workerEnvironment(mark),
      threadMark: (id, generation) => threadMark(this.#identity, id, generation),
      watchdog: this.#watchdog,
      guard: this.#guard,
      settings: () => this.#settings.current,
      onLog: (id, { level, message, facts }) => this.#log.write(level, message, { ...asFacts(facts), extension: id }),
      onRequest: (owner, generation, op, payload) => this.#requests.answer(owner, generation, op, payload, undefined),
      onDeath: (_owner, generation) => this.#cache.release(generation),
      onState: (owner, reason) => this.#tellState(owner, reason),
      redactTable: (value) => this.#policy.redactJson(value),
      admitSandbox: () => this.#admitSandbox(),
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
    await Promise.all(this.#extensions.threads.map((thread) => thread.tellSettings(settings)));
    if (settings !== this.#settings.current) return;
    for (const session of this.#sessions.values()) session.settingsChanged(settings);
  }

  async #close(timeoutMs: number | undefined): Promise<void> {
    const startedAt = performance.now();
    this.#extensions.endWatch();
    await Promise.all(
      [...this.#sessions.values()].map((session) =>
        session.close('quit', timeoutMs === undefined ? {} : { timeoutMs }),
      ),
    );
    const leftMs = (timeoutMs ?? Number.POSITIVE_INFINITY) - (performance.now() - startedAt);
    const graceMs = Math.max(LEAST_GRACE_MS, Math.min(THREAD_GRACE_MS, leftMs));
    const { threads } = this.#extensions;
    await Promise.all(threads.map((thread) => thread.close(graceMs)));
    await this.#guard.quit();
    const uses = new Map(threads.map(({ extension, permissionUse }) => [extension.id, permissionUse]));
    await addPermissionUse(this.#agentDir, uses).catch((error: unknown) =>
      this.#log.write('warn', `what extensions used could not be written down: ${messageOf(error)}`),
    );
    clearInterval(this.#keepAlive);
    this.#settings.close();
    await this.#disk.settled();
    this.#loopDelay.stop();
    this.#emitter.clear();
  }

  #checkOpen(): void {
    if (this.#closing) throw new ExtensionHostError('HOST_CLOSED', 'the host is closed; make a new one');
  }
}

function asFacts(facts: unknown): JsonObject {
  return typeof facts === 'object' && facts !== null ? (facts as JsonObject) : {};
}
