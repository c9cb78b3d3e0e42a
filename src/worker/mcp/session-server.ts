import { mkdir } from 'node:fs/promises';
import { messageOf } from '../../shared/errors.ts';
import type {
  ExtensionApi,
  JsonObject,
  Progress,
  ToolContext,
  ToolExecutionResult,
} from '../../shared/extension-api.ts';
import type { ServerConfig } from '../../shared/mcp-options.ts';
import { printable } from '../../shared/printable.ts';
import type { Catalog, CatalogTool } from './catalog/catalog.ts';
import { catalogDifference, differenceText } from './catalog/catalog-difference.ts';
import { LiveList } from './catalog/live-list.ts';
import { type OfferedTools, offeredTools } from './catalog/offered-tools.ts';
import type { ProcessAdmission } from './connection/process/process-admission.ts';
import type { Lease, RuntimePool } from './connection/runtime-pool.ts';
import { type ConnectionOptions, ServerConnection } from './connection/server-connection.ts';
import { mapResult } from './result/map-result.ts';
import type { OutputCheck } from './result/output-check.ts';

/** How far a server's catalogue is. */
export type CatalogState =
  | { readonly state: 'disabled' }
  | { readonly state: 'starting' }
  | { readonly state: 'failed'; readonly reason: string }
  | { readonly state: 'listed'; readonly catalog: Catalog; readonly offered: OfferedTools };

export interface ToolCallRequest {
  readonly tool: CatalogTool;
  readonly outputCheck: OutputCheck | undefined;
  readonly params: JsonObject;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly ctx: ToolContext;
}

/** What the sessions of a thread share. */
export interface SharedParts {
  readonly admission: ProcessAdmission;
  readonly pool: RuntimePool<SessionServer>;
}

export interface SessionServerOptions {
  readonly api: ExtensionApi;
  readonly shared: SharedParts;
  /** The running server lists other tools than the catalogue; `listing` has them. */
  readonly onOtherTools: (server: SessionServer) => void;
}

type ConnectionPlace = Pick<ConnectionOptions, 'sessionId' | 'workspace' | 'prepare' | 'person'>;

/** One configured server in one session: its catalogue, and the process behind it once a call needs one. */
export class SessionServer {
  readonly #options: SessionServerOptions;
  #config: ServerConfig;
  #listing: CatalogState;
  /** From the first call on. */
  #lease: Lease<SessionServer> | undefined;
  #closed = false;

  constructor(config: ServerConfig, options: SessionServerOptions) {
    this.#config = config;
    this.#options = options;
    this.#listing = config.enabled ? { state: 'starting' } : { state: 'disabled' };
  }

  get name(): string {
    return this.#config.name;
  }

  get config(): ServerConfig {
    return this.#config;
  }

  get listing(): CatalogState {
    return this.#listing;
  }

  /** Of a server of all sessions the shared one, also when this session has not called it yet. */
  get connection(): ServerConnection | undefined {
    if (this.#lease) return this.#lease.connection;
    return this.#config.scope === 'host' ? this.#options.shared.pool.findShared(this.#config) : undefined;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Waits for the catalogue; what comes of it is in {@link listing}. Never rejects. */
  async list(catalog: Promise<Catalog>): Promise<void> {
    this.#listing = { state: 'starting' };
    try {
      this.#take(await catalog);
    } catch (error) {
      this.#listing = { state: 'failed', reason: printable(messageOf(error), { keepNewlines: true }) };
    }
  }

  /**
   * Another configuration of this server. Filters, prefix and times apply at once; a process that would be started otherwise
   * is replaced at the next call.
   */
  reconfigure(config: ServerConfig): void {
    const before = this.#config;
    this.#config = config;
    if (!config.enabled) this.#listing = { state: 'disabled' };
    else if (this.#listing.state === 'listed') this.#take(this.#listing.catalog);
    // What all sessions share follows the first of them that hears of it: they have one configuration.
    if (!config.enabled || before.scope !== config.scope) void this.#letGo();
    else this.#lease?.connection.reconfigure(config);
  }

  /** Runs one call on its process, which the first call starts. Whatever goes wrong is an error result. */
  async call({ tool, outputCheck, params, signal, onProgress, ctx }: ToolCallRequest): Promise<ToolExecutionResult> {
    const named = { server: this.name, tool: tool.mcpName };
    if (this.#closed) {
      return errorOf(`${tool.exposedName} was not called: the session has ended.`, {
        ...named,
        outcome: 'not-sent',
        error: { code: 'SESSION_CLOSED' },
      });
    }
    const reply = await this.#connect(ctx).call({
      tool: tool.mcpName,
      exposedName: tool.exposedName,
      arguments: params,
      signal,
      onProgress,
      ...(ctx.expectEpoch === undefined ? {} : { expectEpoch: ctx.expectEpoch }),
    });
    if (reply.kind === 'answer') {
      return mapResult(reply.raw, {
        ...named,
        epoch: reply.epoch,
        ...(outputCheck === undefined ? {} : { outputCheck }),
      });
    }
    const { code, message, outcome, epoch } = reply;
    return errorOf(message, { ...named, outcome, ...(epoch === undefined ? {} : { epoch }), error: { code } });
  }

  /** Ends the process, also one of all sessions; the next call starts another one. */
  async restart(): Promise<void> {
    await this.connection?.stop();
  }

  /** The conversation has ended: ends the session's own process. What all sessions share goes on. */
  async stop(timeoutMs?: number): Promise<void> {
    if (this.#config.scope === 'session') await this.#lease?.connection.stop(bounds(timeoutMs));
  }

  /** Ends the process for good, or this session's part in it. */
  async dispose(timeoutMs?: number): Promise<void> {
    this.#closed = true;
    await this.#letGo(timeoutMs);
  }

  /** The live list, of this session's process or of the shared one. */
  takeLive(live: Catalog): void {
    if (this.#closed || this.#listing.state !== 'listed') return;
    const difference = catalogDifference(this.#listing.catalog, live);
    if (!difference) return;
    const server = this.name;
    const text = `${server}: its live tool list differs from the catalogue: ${differenceText(difference)}`;
    this.#options.api.logger.warn({ server }, text);
    this.#take({ ...this.#listing.catalog, tools: live.tools, skipped: live.skipped });
    this.#options.onOtherTools(this);
  }

  #take(catalog: Catalog): void {
    this.#listing = { state: 'listed', catalog, offered: offeredTools(catalog, this.#config) };
  }

  async #letGo(timeoutMs?: number): Promise<void> {
    const lease = this.#lease;
    this.#lease = undefined;
    await lease?.release(timeoutMs);
  }

  #connect(ctx: ToolContext): ServerConnection {
    if (this.#lease) return this.#lease.connection;
    const { api, shared } = this.#options;
    const request = { config: this.#config, sessionId: ctx.sessionId, user: this };
    this.#lease = shared.pool.lease(request, (users, after) => this.#create(users, after, this.#placeOf(ctx, api)));
    // Who holds it already may have other times.
    this.#lease.connection.reconfigure(this.#config);
    return this.#lease.connection;
  }

  /** Where its process runs, and with whose environment. */
  #placeOf(ctx: ToolContext, { agentDir, processes }: ExtensionApi): ConnectionPlace {
    if (this.#config.scope === 'session') {
      const { sessionId, cwd: workspace } = ctx;
      return { sessionId, workspace, person: ctx, prepare: (request) => ctx.processes.prepare(request) };
    }
    return {
      workspace: agentDir,
      prepare: async (request) => {
        await mkdir(agentDir, { recursive: true });
        return processes.prepare(request);
      },
    };
  }

  #create(users: ReadonlySet<SessionServer>, after: Promise<void>, place: ConnectionPlace): ServerConnection {
    const { api, shared } = this.#options;
    const { logger, limits, processes, env } = api;
    const live = new LiveList({
      config: () => connection.config,
      limits,
      logger,
      onList: (list) => {
        for (const user of users) user.takeLive(list);
      },
    });
    const connection: ServerConnection = new ServerConnection({
      ...place,
      after,
      config: this.#config,
      readEnv: (variable) => env.get(variable),
      track: (note) => processes.track(note),
      logger,
      limits,
      admission: shared.admission,
      onStarted: (client) => live.started(client),
    });
    return connection;
  }
}

function errorOf(text: string, details: JsonObject): ToolExecutionResult {
  return { content: [{ type: 'text', text }], isError: true, details };
}

function bounds(timeoutMs: number | undefined): { readonly timeoutMs?: number } {
  return timeoutMs === undefined ? {} : { timeoutMs };
}
