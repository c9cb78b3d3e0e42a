import { setTimeout as delay } from 'node:timers/promises';
import { ExtensionHostError } from '../../shared/errors.ts';
import { defineExtension, type ExtensionApi } from '../../shared/extension-api.ts';
import { type McpConfig, parseMcpOptions } from '../../shared/mcp-options.ts';
import { Discoveries } from './catalog/discoveries.ts';
import { sharedCatalog } from './catalog/shared-catalog.ts';
import { ToolRegistrar } from './catalog/tool-registrar.ts';
import { mcpCommand } from './command.ts';
import { catalogKey } from './config/catalog-key.ts';
import { seconds } from './connection/seconds.ts';
import { SessionServer } from './session-server.ts';

/** What the sessions of this thread share. */
const discoveries = new Discoveries();
const openInstances = new Set<object>();

/** A longer timer fires at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** What a stop may take beyond the longest server's own time. */
const STOP_MARGIN_MS = 2000;

/** The MCP extension: registers the tools of the configured servers, and runs one process a session and server behind them. */
export default defineExtension(async (api) => {
  const { config, problems } = parseMcpOptions(api.options);
  if (problems.length > 0) {
    throw new ExtensionHostError('CONFIG_INVALID', `the MCP options are invalid:\n${problems.join('\n')}`, {
      data: { problems },
    });
  }
  const instance = new McpInstance(api, config);
  api.registerCommand('mcp', mcpCommand(instance));
  instance.followSession();
  await instance.activate();
});

/** The extension in one session. */
class McpInstance {
  readonly servers: readonly SessionServer[];
  readonly registrar: ToolRegistrar;
  readonly #api: ExtensionApi;
  readonly #config: McpConfig;

  constructor(api: ExtensionApi, config: McpConfig) {
    this.#api = api;
    this.#config = config;
    this.servers = config.servers.map((server) => new SessionServer(server, api));
    this.registrar = new ToolRegistrar(api);
  }

  /** Offers what is listed in time, in the order of the configuration; what comes later joins by itself. */
  async activate(): Promise<void> {
    const waiting = new Map(this.#enabled().map((server) => [server, this.#list(server)]));
    const timer = new AbortController();
    // A factory that is late is discarded as a whole, so some of its time has to be left.
    const waitMs = Math.min(
      this.#config.activationWaitMs ?? Number.POSITIVE_INFINITY,
      this.#api.limits.factoryMs * 0.9,
    );
    const late = delay(Math.min(waitMs, MAX_TIMER_MS), undefined, { signal: timer.signal }).catch(() => {});
    await Promise.race([Promise.all(waiting.values()), late]);
    timer.abort();
    for (const [server, listed] of waiting) {
      if (server.listing.state !== 'starting') this.#offer(server);
      else this.#offerLater(server, listed, waitMs);
    }
  }

  /** A process of its own for the next call; a server that could not be listed is tried again. */
  async restart(name: string): Promise<void> {
    const server = this.servers.find(({ config }) => config.name === name);
    if (!server?.config.enabled) return;
    if (server.listing.state === 'failed') {
      this.#api.cache.drop(catalogKey(server.config));
      await this.#list(server);
      if (!server.closed) this.#offer(server);
    } else {
      await server.stop();
    }
  }

  followSession(): void {
    const longestMs = Math.max(0, ...this.servers.map(({ config }) => config.shutdownTimeoutMs));
    this.#api.on('session_start', () => {
      openInstances.add(this);
      return undefined;
    });
    this.#api.on(
      'session_shutdown',
      async ({ reason, timeoutMs }) => {
        const forGood = reason === 'quit' || reason === 'reload';
        // Some of the time is needed to say that it is done.
        const bound = timeoutMs === undefined ? undefined : timeoutMs * 0.9;
        const ends = this.servers.map((server) => {
          const serverMs = bound === undefined ? undefined : Math.min(bound, server.config.shutdownTimeoutMs);
          return forGood ? server.dispose(serverMs) : server.stop(serverMs);
        });
        if (forGood) {
          openInstances.delete(this);
          if (openInstances.size === 0) ends.push(discoveries.endAll(bound ?? longestMs + STOP_MARGIN_MS / 2));
        }
        await Promise.allSettled(ends);
        return undefined;
      },
      { timeoutMs: longestMs + STOP_MARGIN_MS },
    );
  }

  #enabled(): readonly SessionServer[] {
    return this.servers.filter(({ config }) => config.enabled);
  }

  #list(server: SessionServer): Promise<void> {
    return server.list(sharedCatalog(server.config, this.#api, discoveries, () => !server.closed));
  }

  #offer(server: SessionServer): void {
    const { listing, config } = server;
    if (listing.state === 'listed') this.registrar.register(server, listing.catalog);
    if (listing.state === 'failed') {
      this.#api.reportFailure({ server: config.name, code: 'SERVER_START_FAILED', message: listing.reason });
    }
  }

  #offerLater(server: SessionServer, listed: Promise<void>, waitMs: number): void {
    const { name } = server.config;
    const message = `MCP server ${name} is still starting after ${seconds(waitMs)} s; its tools join when they are listed`;
    this.#api.reportFailure({ server: name, code: 'SERVER_STARTING', message });
    void listed.then(() => {
      if (!server.closed) this.#offer(server);
    });
  }
}
