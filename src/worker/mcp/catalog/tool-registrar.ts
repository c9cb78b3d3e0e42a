import type { ExtensionApi } from '../../../shared/extension-api.ts';
import { printable } from '../../../shared/printable.ts';
import { OutputCheck } from '../result/output-check.ts';
import type { SessionServer } from '../session-server.ts';
import type { Catalog, CatalogTool } from './catalog.ts';

/** Skipped entries that become failures of their own; the rest is counted. */
const MAX_SKIP_FAILURES = 20;

/**
 * Offers the tools of catalogues in one session. A built-in name is never taken, a name that another server holds is not
 * taken away; each refusal is a failure of the session, which the host also logs.
 */
export class ToolRegistrar {
  readonly #api: ExtensionApi;
  /** Exposed name → the server that has it. A Map, since `__proto__` is a name too. */
  readonly #holders = new Map<string, string>();

  constructor(api: ExtensionApi) {
    this.#api = api;
  }

  /** How many tools of a server are offered. */
  count(server: string): number {
    return [...this.#holders.values()].filter((holder) => holder === server).length;
  }

  /** The server whose tool is offered under a name. */
  holder(exposedName: string): string | undefined {
    return this.#holders.get(exposedName);
  }

  /** In the catalogue's order. */
  register(server: SessionServer, catalog: Catalog): void {
    const builtIns = new Set<string>();
    for (const { name, source } of this.#api.getAllTools()) if (source.kind === 'built-in') builtIns.add(name);
    for (const tool of catalog.tools) {
      const taken = this.#refusal(server, tool, builtIns);
      if (taken === undefined) this.#offer(server, tool);
      else this.#fail(server, tool.mcpName, 'NAME_TAKEN', taken);
    }
    this.#tellSkipped(server, catalog);
  }

  #refusal(
    { config }: SessionServer,
    { mcpName, exposedName }: CatalogTool,
    builtIns: ReadonlySet<string>,
  ): string | undefined {
    const what = `tool "${mcpName}" of MCP server ${config.name} is not offered`;
    const mend = `give ${config.name} a toolPrefix, such as "${suggestedPrefix(config.name)}"`;
    if (builtIns.has(exposedName)) return `${what}: ${exposedName} is the name of a built-in tool; ${mend}`;
    const holder = this.#holders.get(exposedName);
    if (holder === undefined) return undefined;
    return `${what}: MCP server ${holder} comes first and has ${exposedName} already; ${mend}`;
  }

  #offer(server: SessionServer, tool: CatalogTool): void {
    const { config } = server;
    const { mcpName, exposedName, description, parameters, outputSchema, annotations } = tool;
    const outputCheck = outputSchema === undefined ? undefined : new OutputCheck(outputSchema);
    this.#holders.set(exposedName, config.name);
    this.#api.registerTool({
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
  }

  #tellSkipped(server: SessionServer, { skipped }: Catalog): void {
    for (const { name, reason } of skipped.slice(0, MAX_SKIP_FAILURES)) {
      const what = name === '' ? 'an entry of the tool list' : `tool "${name}"`;
      this.#fail(
        server,
        name,
        'TOOL_QUARANTINED',
        `${what} of MCP server ${server.config.name} is left out: ${reason}`,
      );
    }
    const more = skipped.length - MAX_SKIP_FAILURES;
    if (more > 0)
      this.#fail(
        server,
        '',
        'TOOL_QUARANTINED',
        `${more} more entries of MCP server ${server.config.name} are left out`,
      );
  }

  #fail({ config }: SessionServer, tool: string, code: 'NAME_TAKEN' | 'TOOL_QUARANTINED', message: string): void {
    const named = tool === '' ? {} : { tool: printable(tool) };
    this.#api.reportFailure({ server: config.name, ...named, code, message: printable(message) });
  }
}

function suggestedPrefix(server: string): string {
  const safe = server.replace(/[^A-Za-z0-9_-]/gu, '_').slice(0, 16);
  return safe.startsWith('mcp__') ? 'x_' : `${safe}_`;
}
