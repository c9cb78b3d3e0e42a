import type { ExtensionApi } from '../../../shared/extension-api.ts';
import { printable } from '../../../shared/printable.ts';
import { OutputCheck } from '../result/output-check.ts';
import type { SessionServer } from '../session-server.ts';
import type { CatalogTool } from './catalog.ts';

/** Skipped entries that become failures of their own; the rest is counted. */
const MAX_SKIP_FAILURES = 20;
/** A list that changes for ever does not fill the memory with what was told about it. */
const MAX_TOLD = 5000;

interface RegisteredTool {
  readonly server: SessionServer;
  /** What the model is told, as text: another one is registered anew. */
  readonly told: string;
  readonly remove: () => void;
}

/**
 * Offers the tools of catalogues in one session. A built-in name is never taken, a name that another server holds is not
 * taken away; each refusal is a failure of the session, which the host also logs.
 */
export class ToolRegistrar {
  readonly #api: ExtensionApi;
  /** By exposed name. A Map, since `__proto__` is a name too. */
  readonly #registered = new Map<string, RegisteredTool>();
  /** Failures that were told, so that a list that is read again does not repeat them. */
  readonly #told = new Set<string>();

  constructor(api: ExtensionApi) {
    this.#api = api;
  }

  /** The names under which a server's tools are offered. */
  namesOf(server: string): readonly string[] {
    return [...this.#registered].filter(([, tool]) => tool.server.name === server).map(([name]) => name);
  }

  /** The server whose tool is offered under a name. */
  holder(exposedName: string): string | undefined {
    return this.#registered.get(exposedName)?.server.name;
  }

  /** Offers what the server lists now, in its order, and takes back what it does not any more. */
  sync(server: SessionServer): void {
    const { listing } = server;
    const tools = listing.state === 'listed' ? listing.offered.tools : [];
    const wanted = new Map(tools.map((tool) => [tool.exposedName, toldText(server, tool)]));
    for (const [name, tool] of this.#registered) {
      if (tool.server.name === server.name && (tool.server !== server || wanted.get(name) !== tool.told)) {
        this.#registered.delete(name);
        tool.remove();
      }
    }
    const builtIns = new Set<string>();
    for (const { name, source } of this.#api.getAllTools()) if (source.kind === 'built-in') builtIns.add(name);
    for (const tool of tools) {
      if (this.holder(tool.exposedName) === server.name) continue;
      const taken = this.#refusal(server, tool, builtIns);
      if (taken === undefined) this.#offer(server, tool);
      else this.#fail(server, tool.mcpName, 'NAME_TAKEN', taken);
    }
    this.#tellSkipped(server);
  }

  /** Takes back everything a server offers. */
  remove(server: string): void {
    for (const name of this.namesOf(server)) {
      this.#registered.get(name)?.remove();
      this.#registered.delete(name);
    }
  }

  #refusal(
    { config }: SessionServer,
    { mcpName, exposedName }: CatalogTool,
    builtIns: ReadonlySet<string>,
  ): string | undefined {
    const what = `tool "${mcpName}" of MCP server ${config.name} is not offered`;
    const mend = `give ${config.name} a toolPrefix, such as "${suggestedPrefix(config.name)}"`;
    if (builtIns.has(exposedName)) return `${what}: ${exposedName} is the name of a built-in tool; ${mend}`;
    const holder = this.holder(exposedName);
    if (holder === undefined) return undefined;
    return `${what}: MCP server ${holder} comes first and has ${exposedName} already; ${mend}`;
  }

  #offer(server: SessionServer, tool: CatalogTool): void {
    const { config } = server;
    const { mcpName, exposedName, description, parameters, outputSchema, annotations } = tool;
    const outputCheck = outputSchema === undefined ? undefined : new OutputCheck(outputSchema);
    const remove = this.#api.registerTool({
      name: exposedName,
      description,
      parameters,
      ...(outputSchema === undefined ? {} : { outputSchema }),
      ...(annotations === undefined ? {} : { annotations }),
      source: { server: config.name, tool: mcpName },
      executionMode: config.parallel ? 'parallel' : 'sequential',
      execute: (_callId, params, signal, onProgress, ctx) =>
        server.call({ tool, outputCheck, params, signal, onProgress, ctx }),
    });
    this.#registered.set(exposedName, { server, told: toldText(server, tool), remove });
  }

  #tellSkipped(server: SessionServer): void {
    const { listing, name: serverName } = server;
    if (listing.state !== 'listed') return;
    const { skipped } = listing.catalog;
    for (const { name, reason } of skipped.slice(0, MAX_SKIP_FAILURES)) {
      const what = name === '' ? 'an entry of the tool list' : `tool "${name}"`;
      this.#fail(server, name, 'TOOL_QUARANTINED', `${what} of MCP server ${serverName} is left out: ${reason}`);
    }
    const more = skipped.length - MAX_SKIP_FAILURES;
    if (more > 0) {
      this.#fail(server, '', 'TOOL_QUARANTINED', `${more} more entries of MCP server ${serverName} are left out`);
    }
    for (const pattern of listing.offered.idlePatterns) {
      const text = `MCP server ${serverName}: the pattern "${printable(pattern)}" of its "tools" fits none of them`;
      if (this.#isNew(text)) this.#api.logger.warn({ server: serverName }, text);
    }
  }

  #fail({ config }: SessionServer, tool: string, code: 'NAME_TAKEN' | 'TOOL_QUARANTINED', message: string): void {
    if (!this.#isNew(message)) return;
    const named = tool === '' ? {} : { tool: printable(tool) };
    this.#api.reportFailure({ server: config.name, ...named, code, message: printable(message) });
  }

  #isNew(text: string): boolean {
    if (this.#told.has(text) || this.#told.size === MAX_TOLD) return false;
    this.#told.add(text);
    return true;
  }
}

/** Everything of a tool that a model or the call itself depends on. */
function toldText(
  { config }: SessionServer,
  { mcpName, description, parameters, outputSchema, annotations }: CatalogTool,
): string {
  return JSON.stringify([mcpName, description, parameters, outputSchema, annotations, config.parallel]);
}

function suggestedPrefix(server: string): string {
  const safe = server.replace(/[^A-Za-z0-9_-]/gu, '_').slice(0, 16);
  return safe.startsWith('mcp__') ? 'x_' : `${safe}_`;
}
