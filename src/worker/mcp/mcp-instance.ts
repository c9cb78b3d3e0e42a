import { setTimeout as delay } from 'node:timers/promises';
import { ExtensionHostError } from '../../shared/errors.ts';
import type { ExtensionApi, SessionShutdownEvent } from '../../shared/extension-api.ts';
import type { JsonObject } from '../../shared/json.ts';
import { DEFAULT_MAX_PROCESSES, type McpConfig, type ServerConfig } from '../../shared/mcp-options.ts';
import { playwrightState } from '../../shared/playwright-preset.ts';
import { printable } from '../../shared/printable.ts';
import { Discoveries } from './catalog/discoveries.ts';
import { sharedCatalog } from './catalog/shared-catalog.ts';
import { ToolRegistrar } from './catalog/tool-registrar.ts';
import type { McpCommandSubject, ServerView } from './command.ts';
import { catalogKey } from './config/catalog-key.ts';
import { type ServerSet, serverSet } from './config/server-set.ts';
import { ProcessAdmission } from './connection/process/process-admission.ts';
import { RuntimePool } from './connection/runtime-pool.ts';
import { promptSections } from './prompt-sections.ts';
import { seconds } from './seconds.ts';
import { SessionServer, type SharedParts } from './session-server.ts';

/** What the sessions of this thread share. */
const discoveries = new Discoveries();
const openInstances = new Set<object>();
const shared: SharedParts = {
  admission: new ProcessAdmission(DEFAULT_MAX_PROCESSES),
  pool: new RuntimePool(),
};

/** A longer timer fires at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** What a stop may take beyond the longest server's own time. */
const STOP_MARGIN_MS = 2000;

/** The extension in one session. */
export class McpInstance implements McpCommandSubject {
  readonly registrar: ToolRegistrar;
  readonly #api: ExtensionApi;
  readonly #config: McpConfig;
  /** In the order of the sources; a Map, since names are anybody's. */
  #servers = new Map<string, SessionServer>();
  #set: ServerSet;
  #settings: JsonObject;
  #closed = false;
  #endSections: (() => void) | undefined;
  #endShutdown: (() => void) | undefined;

  constructor(api: ExtensionApi, config: McpConfig) {
    this.#api = api;
    this.#config = config;
    this.registrar = new ToolRegistrar(api);
    this.#settings = api.settings;
    this.#set = serverSet(config, this.#settings);
    for (const server of this.#set.servers) this.#servers.set(server.name, this.#create(server));
    shared.admission.setLimit(config.maxProcesses);
  }

  get servers(): readonly ServerView[] {
    const bad = this.#set.bad.map(({ name, reason }) => ({ name, listing: { state: 'failed' as const, reason } }));
    const off = this.#set.presetIsOff ? [{ name: 'playwright', listing: { state: 'disabled' as const } }] : [];
    return [...this.#servers.values(), ...off, ...bad];
  }

  /** Offers what is listed in time, in the order of the configuration; what comes later joins by itself. */
  async activate(): Promise<void> {
    this.#tellPreset();
    this.#tellSources();
    await this.#listAll([...this.#servers.values()]);
  }

  /** A process of its own for the next call; a server that could not be listed is tried again. */
  async restart(name: string): Promise<void> {
    const server = this.#servers.get(name);
    if (!server?.config.enabled) return;
    if (server.listing.state === 'failed') {
      this.#api.cache.drop(catalogKey(server.config));
      await this.#list(server);
      this.#offer(server);
    } else {
      await server.restart();
    }
  }

  /**
   * Looks at a server again, with a process of its own that is gone after it; the one that runs is not touched. Sessions that
   * open from now on have what it lists.
   * @throws INVALID_ARGUMENT, SERVER_START_FAILED
   */
  async refresh(name: string): Promise<void> {
    const server = this.#servers.get(name);
    if (!server?.config.enabled) {
      throw new ExtensionHostError('INVALID_ARGUMENT', `there is no enabled MCP server ${printable(name)} to refresh`);
    }
    this.#api.cache.drop(catalogKey(server.config));
    // One that fails takes nothing away from what is offered here.
    const catalog = await sharedCatalog(server.config, this.#api, discoveries, () => !server.closed);
    await server.list(Promise.resolve(catalog));
    this.#offer(server);
  }

  followSession(): void {
    this.#api.on('session_start', () => {
      openInstances.add(this);
      // They may have changed while the servers were listed.
      void this.#follow(this.#api.settings);
      return undefined;
    });
    this.#api.on('settings_changed', () => {
      void this.#follow(this.#api.settings);
      return undefined;
    });
    this.#subscribe();
  }

  /** What depends on the servers there are: how long their end may take, and whether they say something to the model. */
  #subscribe(): void {
    this.#endShutdown?.();
    this.#endShutdown = this.#api.on('session_shutdown', (event) => this.#shutDown(event), {
      timeoutMs: this.#longestShutdownMs() + STOP_MARGIN_MS,
    });
    this.#endSections?.();
    this.#endSections = this.#set.servers.some(({ promptSection, preset }) => promptSection !== null || preset !== null)
      ? this.#api.on('before_agent_start', ({ activeTools }) => ({ sections: this.#sections(activeTools) }))
      : undefined;
  }

  #longestShutdownMs(): number {
    return Math.max(0, ...[...this.#servers.values()].map(({ config }) => config.shutdownTimeoutMs));
  }

  async #shutDown({ reason, timeoutMs }: SessionShutdownEvent): Promise<undefined> {
    const forGood = reason === 'quit' || reason === 'reload';
    // Some of the time is needed to say that it is done.
    const bound = timeoutMs === undefined ? undefined : timeoutMs * 0.9;
    const ends = [...this.#servers.values()].map((server) => {
      const serverMs = bound === undefined ? undefined : Math.min(bound, server.config.shutdownTimeoutMs);
      return forGood ? server.dispose(serverMs) : server.stop(serverMs);
    });
    if (forGood) {
      this.#closed = true;
      openInstances.delete(this);
      if (openInstances.size === 0) {
        ends.push(discoveries.endAll(bound ?? this.#longestShutdownMs() + STOP_MARGIN_MS / 2));
      }
    }
    await Promise.allSettled(ends);
    return undefined;
  }

  #sections(activeTools: readonly string[]): Record<string, string> {
    const servers = [...this.#servers.values()].map(({ name, config }) => ({
      config,
      toolNames: this.registrar.namesOf(name),
    }));
    return promptSections(servers, activeTools);
  }

  /** Takes over what settings.json says now: what has not changed keeps its process and its tools. */
  async #follow(settings: JsonObject): Promise<void> {
    if (this.#closed || settings === this.#settings) return;
    this.#settings = settings;
    const set = serverSet(this.#config, settings);
    const before = this.#servers;
    this.#set = set;
    this.#servers = new Map();
    const toList: SessionServer[] = [];
    for (const config of set.servers) {
      const known = before.get(config.name);
      before.delete(config.name);
      const server = known ?? this.#create(config);
      this.#servers.set(config.name, server);
      if (known && this.#reconfigure(known, config)) toList.push(known);
      if (!known) toList.push(server);
    }
    const gone = [...before.values()];
    for (const server of gone) this.registrar.remove(server.name);
    this.#subscribe();
    this.#tellSources();
    await Promise.allSettled([...gone.map((server) => server.dispose()), this.#listAll(toList)]);
  }

  /** @returns True when its tools have to be listed anew. */
  #reconfigure(server: SessionServer, config: ServerConfig): boolean {
    const before = server.config;
    if (JSON.stringify(before) === JSON.stringify(config)) return false;
    server.reconfigure(config);
    // The prefix is in the key, but needs no listing: names are made here.
    const sameCatalog = catalogKey({ ...before, toolPrefix: '' }) === catalogKey({ ...config, toolPrefix: '' });
    if (config.enabled && (!sameCatalog || server.listing.state !== 'listed')) return true;
    this.registrar.sync(server);
    return false;
  }

  async #listAll(servers: readonly SessionServer[]): Promise<void> {
    const enabled = servers.filter(({ config }) => config.enabled);
    const waiting = new Map(enabled.map((server) => [server, this.#list(server)]));
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

  #create(config: ServerConfig): SessionServer {
    return new SessionServer(config, {
      api: this.#api,
      shared,
      onOtherTools: (server) => {
        // Whoever opens a session next is to see them, too.
        this.#api.cache.drop(catalogKey(server.config));
        this.#offer(server);
      },
    });
  }

  #list(server: SessionServer): Promise<void> {
    return server.list(sharedCatalog(server.config, this.#api, discoveries, () => !server.closed));
  }

  #offer(server: SessionServer): void {
    if (server.closed || this.#servers.get(server.name) !== server) return;
    this.registrar.sync(server);
    const { listing, name } = server;
    if (listing.state === 'failed') {
      this.#api.reportFailure({ server: name, code: 'SERVER_START_FAILED', message: listing.reason });
    }
  }

  #offerLater(server: SessionServer, listed: Promise<void>, waitMs: number): void {
    const { name } = server;
    const message = `MCP server ${name} is still starting after ${seconds(waitMs)} s; its tools join when they are listed`;
    this.#api.reportFailure({ server: name, code: 'SERVER_STARTING', message });
    void listed.then(() => this.#offer(server));
  }

  #tellSources(): void {
    for (const note of this.#set.notes) this.#api.logger.warn(note);
    for (const { name, reason } of this.#set.bad) {
      const message = `MCP server ${name} of settings.json cannot be used: ${reason}`;
      this.#api.reportFailure({ server: name, code: 'CONFIG_INVALID', message });
    }
  }

  /** Once per host, whichever session comes first. */
  #tellPreset(): void {
    const tell = async (): Promise<true> => {
      this.#api.logger.info(`MCP: playwright ${playwrightState(this.#config.playwright)}`);
      return true;
    };
    this.#api.cache.once('told/playwright', tell, { failureTtlMs: 0 }).catch(() => {});
  }
}
