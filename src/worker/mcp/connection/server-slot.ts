import { ExtensionHostError, messageOf } from '../../../shared/errors.ts';
import type { ServerConfig } from '../../../shared/mcp-options.ts';
import { leaseFingerprint } from '../config/fingerprint.ts';
import type { ClientPort, ServerInfo } from './client/client-port.ts';
import { type LaunchRequest, launchServer, type RunningServer } from './launch/server-launch.ts';
import { deathText } from './process/death-text.ts';
import { exitCause } from './process/exit-report.ts';
import type { AdmittedProcess, ProcessAdmission } from './process/process-admission.ts';

/** `exited`: it restarts on the next call. */
export type ConnectionState = 'not-started' | 'starting' | 'running' | 'exited' | 'failed' | 'stopping';

/** What is known of the process there is, or of the last one. */
export interface SlotStatus {
  readonly state: ConnectionState;
  readonly lastError?: string;
  readonly stderrTail: string;
  readonly info?: ServerInfo;
  readonly epoch?: string;
  readonly pid?: number;
  readonly noiseLines: number;
}

export interface SlotOptions {
  readonly launch: Omit<LaunchRequest, 'config' | 'signal' | 'onLeftover'>;
  /** As it is now; each start takes it anew. */
  readonly config: () => ServerConfig;
  /** Bounds how many processes there are; absent = no bound. */
  readonly admission?: ProcessAdmission;
  /** Nothing starts before it has resolved. */
  readonly after?: Promise<void>;
  /** The process in this place, as those who wait for one see it. */
  readonly admitted: AdmittedProcess;
  /** Called after each start, before it is handed to anybody. */
  readonly onStarted: (client: ClientPort) => void;
}

export interface StopRequest {
  readonly timeoutMs: number;
  /** Why a useless process is stopped; it is then `exited`, with this as the last error. */
  readonly because?: string;
  /** False for a process that does not listen any more. Default true. */
  readonly hook?: boolean;
}

interface Start {
  readonly controller: AbortController;
  readonly server: Promise<RunningServer>;
  /** Still waiting to be let in: nothing has been spawned. */
  waits: boolean;
}

/**
 * The place of one process: at most one lives in it, and the next one waits until everything of the last one is gone (two
 * browsers on one profile refuse each other). All changes of state happen here.
 */
export class ServerSlot {
  readonly #options: SlotOptions;
  #state: ConnectionState = 'not-started';
  #start: Start | undefined;
  #server: RunningServer | undefined;
  /** What the running process was started with. */
  #fingerprint: string | undefined;
  #stopping: { readonly server: RunningServer | undefined; readonly done: Promise<void> } | undefined;
  /** Resolves when nothing is left of earlier processes. */
  #treeGone: Promise<void>;
  #last:
    | { readonly epoch: string; readonly info: ServerInfo; readonly stderrTail: string; readonly noiseLines: number }
    | undefined;
  #lastError: string | undefined;
  #starts = 0;
  #closed = false;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#treeGone = options.after ?? Promise.resolve();
  }

  /** How often a process has been started. */
  get starts(): number {
    return this.#starts;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** True while this is the process that calls go to. */
  holds(server: RunningServer): boolean {
    return this.#server === server;
  }

  /** True when the process that runs is another one than the configuration asks for now. */
  get isStale(): boolean {
    return this.#server !== undefined && this.#fingerprint !== leaseFingerprint(this.#options.config());
  }

  /**
   * The running process, started if need be; a stale one is ended before. Callers share one start.
   * @throws ExtensionHostError SERVER_START_FAILED, or SESSION_CLOSED when it was stopped meanwhile or closed.
   */
  async acquire(): Promise<RunningServer> {
    for (;;) {
      if (this.#closed) throw this.#closedError();
      if (this.#server && !this.isStale) return this.#server;
      if (this.#server) await this.stop({ timeoutMs: this.#options.config().shutdownTimeoutMs });
      else if (this.#stopping) await this.#stopping.done;
      else {
        this.#start ??= this.#begin();
        const server = await this.#start.server;
        // The configuration may have changed during the start; nobody has this process yet.
        if (!this.holds(server) || !this.isStale) return server;
      }
    }
  }

  /** Nobody waits for the start any more: if it is still waiting to be let in, it is called off. */
  callOff(): void {
    if (!this.#start?.waits) return;
    const { controller } = this.#start;
    this.#start = undefined;
    this.#state = 'not-started';
    controller.abort(this.#closedError());
  }

  /** Stops what runs or starts, and resets a failure. Idempotent; a second call can only shorten the first. */
  async stop({ timeoutMs, because, hook = true }: StopRequest): Promise<void> {
    if (this.#stopping) {
      void this.#stopping.server?.stop({ timeoutMs });
      await this.#stopping.done;
      return;
    }
    const server = this.#server;
    const start = this.#start;
    if (because !== undefined) this.#lastError = because;
    const after: ConnectionState = because === undefined ? 'not-started' : 'exited';
    if (!server && !start) {
      this.#state = after;
      await this.#treeGone;
      return;
    }
    this.#server = undefined;
    this.#start = undefined;
    this.#state = 'stopping';
    const done = this.#end(server, start, { timeoutMs, hook }).finally(() => {
      this.#stopping = undefined;
      this.#state = after;
    });
    this.#stopping = { server, done };
    await done;
  }

  /** No process starts any more. */
  close(): void {
    this.#closed = true;
  }

  status(): SlotStatus {
    const server = this.#server;
    const { epoch, info, stderrTail, noiseLines } = (server ? factsOf(server) : this.#last) ?? NOTHING;
    return {
      state: this.#state,
      stderrTail,
      noiseLines,
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
      ...(info === undefined ? {} : { info }),
      ...(epoch === undefined ? {} : { epoch }),
      ...(server === undefined ? {} : { pid: server.pid }),
    };
  }

  #begin(): Start {
    this.#state = 'starting';
    const controller = new AbortController();
    const entry = { waits: true };
    const server = this.#launch(controller.signal, entry);
    // Whoever asked for it may have given up.
    server.catch(() => {});
    return Object.assign(entry, { controller, server });
  }

  async #launch(signal: AbortSignal, entry: { waits: boolean }): Promise<RunningServer> {
    const { launch, admission, admitted } = this.#options;
    let server: RunningServer;
    let leave = (): void => {};
    let left: Promise<void> = Promise.resolve();
    let config = this.#options.config();
    try {
      await this.#treeGone;
      leave = (await admission?.enter(admitted, signal, `starting ${config.name}`)) ?? leave;
      entry.waits = false;
      // It may have waited for long.
      config = this.#options.config();
      const onLeftover = (gone: Promise<void>): void => {
        left = gone;
        this.#leaveBehind(gone);
      };
      server = await launchServer({ ...launch, config, signal, onLeftover });
    } catch (thrown) {
      void left.finally(leave);
      if (signal.aborted) throw this.#closedError();
      this.#start = undefined;
      this.#state = 'failed';
      this.#lastError = messageOf(thrown);
      throw thrown;
    }
    // Only asked for: when it has exited, its clean-up is all that is left to wait for.
    void server.exited.then(() => server.stop({ timeoutMs: config.shutdownTimeoutMs })).finally(leave);
    if (signal.aborted) {
      this.#leaveBehind(server.stop({ timeoutMs: 0 }));
      throw this.#closedError();
    }
    this.#start = undefined;
    this.#server = server;
    this.#fingerprint = leaseFingerprint(config);
    this.#state = 'running';
    this.#starts += 1;
    void this.#watch(server);
    this.#options.onStarted(server.client);
    return server;
  }

  async #watch(server: RunningServer): Promise<void> {
    const report = await server.exited;
    const { logger } = this.#options.launch;
    const config = this.#options.config();
    this.#last = factsOf(server);
    if (this.#server !== server) return;
    this.#server = undefined;
    this.#state = 'exited';
    this.#lastError = deathText(config, report);
    logger.warn({ server: config.name, epoch: server.epoch }, `${config.name} mcp: exited (${exitCause(report)})`);
    this.#leaveBehind(server.stop({ timeoutMs: config.shutdownTimeoutMs }));
  }

  async #end(
    server: RunningServer | undefined,
    start: Start | undefined,
    options: { readonly timeoutMs: number; readonly hook: boolean },
  ): Promise<void> {
    if (server) {
      this.#last = factsOf(server);
      this.#leaveBehind(server.stop(options));
    }
    if (start) {
      start.controller.abort(this.#closedError());
      // It rejects at once; what it has spawned is then left behind.
      await start.server.catch(() => {});
    }
    await this.#treeGone;
  }

  #leaveBehind(gone: Promise<void>): void {
    const before = this.#treeGone;
    this.#treeGone = Promise.allSettled([before, gone]).then(() => {});
  }

  #closedError(): ExtensionHostError {
    const { name } = this.#options.config();
    const text = this.#closed
      ? `the session has ended, and ${name} MCP server with it`
      : `${name} MCP server was stopped`;
    return new ExtensionHostError('SESSION_CLOSED', text);
  }
}

const NOTHING = { epoch: undefined, info: undefined, stderrTail: '', noiseLines: 0 };

function factsOf(server: RunningServer) {
  const { epoch, info, noiseLines } = server;
  return { epoch, info, stderrTail: server.stderrTail(), noiseLines };
}
