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
import { listTools } from './catalog/list-tools.ts';
import type { ClientPort } from './connection/client-port.ts';
import { ServerConnection } from './connection/server-connection.ts';
import { mapResult } from './result/map-result.ts';
import type { OutputCheck } from './result/output-check.ts';

/** How far a server's catalogue is. */
export type CatalogState =
  | { readonly state: 'disabled' }
  | { readonly state: 'starting' }
  | { readonly state: 'failed'; readonly reason: string }
  | { readonly state: 'listed'; readonly catalog: Catalog };

export interface ToolCallRequest {
  readonly tool: CatalogTool;
  readonly outputCheck: OutputCheck | undefined;
  readonly params: JsonObject;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly ctx: ToolContext;
}

/** One configured server in one session: its catalogue, and the process behind it once a call needs one. */
export class SessionServer {
  readonly config: ServerConfig;
  readonly #api: ExtensionApi;
  #listing: CatalogState;
  #connection: ServerConnection | undefined;
  #closed = false;

  constructor(config: ServerConfig, api: ExtensionApi) {
    this.config = config;
    this.#api = api;
    this.#listing = config.enabled ? { state: 'starting' } : { state: 'disabled' };
  }

  get listing(): CatalogState {
    return this.#listing;
  }

  get connection(): ServerConnection | undefined {
    return this.#connection;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Waits for the catalogue; what comes of it is in {@link listing}. Never rejects. */
  async list(catalog: Promise<Catalog>): Promise<void> {
    this.#listing = { state: 'starting' };
    try {
      this.#listing = { state: 'listed', catalog: await catalog };
    } catch (error) {
      this.#listing = { state: 'failed', reason: printable(messageOf(error), { keepNewlines: true }) };
    }
  }

  /** Runs one call on this session's process, which the first call starts. Whatever goes wrong is an error result. */
  async call({ tool, outputCheck, params, signal, onProgress, ctx }: ToolCallRequest): Promise<ToolExecutionResult> {
    const named = { server: this.config.name, tool: tool.mcpName };
    if (this.#closed && !this.#connection) {
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

  /** Ends the process; the next call starts another one. */
  async stop(timeoutMs?: number): Promise<void> {
    await this.#connection?.stop(bounds(timeoutMs));
  }

  /** Ends the process for good. */
  async dispose(timeoutMs?: number): Promise<void> {
    this.#closed = true;
    await this.#connection?.dispose(bounds(timeoutMs));
  }

  #connect(ctx: ToolContext): ServerConnection {
    const { logger, limits, processes, env } = this.#api;
    this.#connection ??= new ServerConnection({
      config: this.config,
      sessionId: ctx.sessionId,
      workspace: ctx.cwd,
      prepare: (request) => ctx.processes.prepare(request),
      readEnv: (variable) => env.get(variable),
      track: (note) => processes.track(note),
      logger,
      limits,
      onStarted: (client) => void this.#compare(client),
    });
    return this.#connection;
  }

  /** Says once per start how the live list differs from the catalogue. Calls go by name either way. */
  async #compare(client: ClientPort): Promise<void> {
    if (this.#listing.state !== 'listed') return;
    const { catalog } = this.#listing;
    const { name: server, toolPrefix } = this.config;
    const { logger, limits } = this.#api;
    try {
      const live = await listTools(client, {}, { server, toolPrefix, limits });
      const difference = catalogDifference(catalog, live);
      if (difference)
        logger.warn(
          { server },
          `${server}: its live tool list differs from the catalogue: ${differenceText(difference)}`,
        );
    } catch (error) {
      logger.debug(
        { server },
        `${server}: its live tool list could not be compared with the catalogue: ${messageOf(error)}`,
      );
    }
  }
}

function errorOf(text: string, details: JsonObject): ToolExecutionResult {
  return { content: [{ type: 'text', text }], isError: true, details };
}

function bounds(timeoutMs: number | undefined): { readonly timeoutMs?: number } {
  return timeoutMs === undefined ? {} : { timeoutMs };
}
