import type { CommandDefinition } from '../../shared/extension-api.ts';
import type { ServerConfig } from '../../shared/mcp-options.ts';
import { nearestName } from '../../shared/nearest-name.ts';
import { PLAYWRIGHT_SERVER } from '../../shared/playwright-preset.ts';
import { printable } from '../../shared/printable.ts';
import type { Catalog } from './catalog/catalog.ts';
import type { ToolRegistrar } from './catalog/tool-registrar.ts';
import type { ConnectionStatus, ServerConnection } from './connection/server-connection.ts';
import { headOfWords } from './cut-words.ts';
import type { CatalogState } from './session-server.ts';

const MAX_CHARACTERS = 24_000;
const CUT_NOTE = '\n… (cut)';
const MAX_LINE = 2000;
const MAX_REASON = 300;

type RegisteredTools = Pick<ToolRegistrar, 'namesOf' | 'holder'>;

/** One server as the command shows it. Without a configuration it is an entry that cannot be used, or the disabled preset. */
export interface ServerView {
  readonly name: string;
  readonly config?: ServerConfig;
  readonly listing: CatalogState;
  readonly connection?: Pick<ServerConnection, 'status'> | undefined;
}

/** What the command looks at. */
export interface McpCommandSubject {
  readonly servers: readonly ServerView[];
  readonly registrar: RegisteredTools;
  restart(name: string): Promise<void>;
  /** @throws INVALID_ARGUMENT, SERVER_START_FAILED */
  refresh(name: string): Promise<void>;
}

/** `/mcp`, `/mcp <name>`, `/mcp restart <name>` and `/mcp refresh <name>`. What servers wrote is escaped; values of env entries are never shown. */
export function mcpCommand(subject: McpCommandSubject): CommandDefinition {
  return {
    description: 'MCP servers of this session: /mcp, /mcp <name>, /mcp restart <name>, /mcp refresh <name>',
    handler: async (args) => bounded(await answer(subject, args.trim())),
  };
}

async function answer(subject: McpCommandSubject, args: string): Promise<string> {
  const { servers, registrar } = subject;
  if (args === '') return listText(servers, registrar);
  const named = find(servers, args);
  if (named) return serverText(named, registrar);
  const refresh = /^refresh\s+(.*)$/s.exec(args)?.[1];
  if (refresh !== undefined) return refreshed(subject, refresh);
  const restart = /^restart\s+(.*)$/s.exec(args)?.[1];
  if (restart === undefined) return unknownServer(servers, args);
  const server = find(servers, restart);
  if (!server) return unknownServer(servers, restart);
  if (!server.config) return `${stateLine(server, 0)}\nIt cannot be restarted.`;
  if (!server.config.enabled) return `${restart} is disabled; set "enabled" to true in its options`;
  await subject.restart(restart);
  return `${stateLine(find(subject.servers, restart) ?? server, countOf(registrar, restart))}\nIts next call runs on a fresh process.`;
}

/** An unknown name is an error, not a text: programs ask for it, too. */
async function refreshed(subject: McpCommandSubject, name: string): Promise<string> {
  await subject.refresh(name);
  const server = find(subject.servers, name);
  const tools = countOf(subject.registrar, name);
  return server === undefined ? `${printable(name)}: ${tools} tools` : stateLine(server, tools);
}

function find(servers: readonly ServerView[], name: string): ServerView | undefined {
  return servers.find((server) => server.name === name);
}

function unknownServer(servers: readonly ServerView[], name: string): string {
  const names = servers.map((server) => server.name);
  const nearest = nearestName(name, names);
  const mend =
    nearest === undefined ? 'none is configured' : `did you mean ${printable(nearest)}? /mcp lists all ${names.length}`;
  return `there is no MCP server ${printable(name.slice(0, MAX_REASON))}; ${mend}`;
}

function listText(servers: readonly ServerView[], registrar: RegisteredTools): string {
  if (servers.length === 0) return 'no MCP servers are configured';
  return servers.map((server) => stateLine(server, countOf(registrar, server.name))).join('\n');
}

/** `github: running, 12 tools`. A failure is one line, however long its reason. */
function stateLine(server: ServerView, tools: number): string {
  const { state } = server.listing;
  const counted = state === 'listed' || tools > 0 ? `, ${tools} ${tools === 1 ? 'tool' : 'tools'}` : '';
  return `${printable(server.name)}: ${stateOf(server)}${counted}`;
}

function countOf(registrar: RegisteredTools, server: string): number {
  return registrar.namesOf(server).length;
}

function stateOf({ listing, connection, name, config }: ServerView): string {
  if (listing.state === 'disabled') {
    const isPreset = config === undefined ? name === PLAYWRIGHT_SERVER : config.preset === 'playwright';
    return isPreset ? 'disabled (set PLAYWRIGHT_ENABLED=true)' : 'disabled';
  }
  if (listing.state === 'starting') return 'starting';
  if (listing.state === 'failed') return `failed: ${firstLine(listing.reason)}`;
  const status = connection?.status();
  if (status === undefined || status.state === 'not-started') return 'not started';
  if (status.state === 'exited') return 'exited (restarts on the next call)';
  if (status.state === 'failed') return `failed: ${firstLine(status.lastError ?? 'the reason is unknown')}`;
  return status.state;
}

function firstLine(text: string): string {
  return headOfWords(printable(text.trim().split('\n', 1)[0] ?? ''), MAX_REASON);
}

function serverText(server: ServerView, registrar: RegisteredTools): string {
  const { config, listing, connection } = server;
  if (!config) return printable(unusableText(server), { keepNewlines: true });
  const status = connection?.status();
  const catalog = listing.state === 'listed' ? listing.catalog : undefined;
  const tools = listing.state === 'listed' ? toolLines(listing, config.name, registrar) : [];
  const lastError = status?.lastError ?? (listing.state === 'failed' ? listing.reason : undefined);
  return [
    stateLine(server, countOf(registrar, config.name)),
    `command: ${commandLine(config)}`,
    `cwd: ${config.cwd ?? (config.scope === 'host' ? 'the agent dir' : 'the workspace')}`,
    ...(config.scope === 'host' ? ['scope: host, one process for all sessions'] : []),
    `env: ${envNames(config)}`,
    ...serverInfo(catalog, status),
    ...(lastError === undefined ? [] : ['last error:', indented(lastError)]),
    ...(status === undefined || status.stderrTail === '' ? [] : ['stderr, last lines:', indented(status.stderrTail)]),
    ...(status === undefined ? [] : [countersLine(status)]),
    // Last, because the end is what is cut when there is too much.
    ...tools,
  ]
    .map((text) => printable(text, { keepNewlines: true }))
    .join('\n');
}

/** An entry that is no server has a reason at most. */
function unusableText(server: ServerView): string {
  const reason = server.listing.state === 'failed' ? ['last error:', indented(server.listing.reason)] : [];
  return [stateLine(server, 0), ...reason].join('\n');
}

/** As configured: placeholders are not expanded. An argument that is no plain word is quoted. */
function commandLine({ command, args }: ServerConfig): string {
  const words = [command, ...args].map((word) => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word)));
  return headOfWords(words.join(' '), MAX_LINE);
}

function envNames({ env }: ServerConfig): string {
  const names = Object.entries(env).map(([name, value]) => (value === null ? `${name} (removed)` : name));
  return names.length === 0 ? 'nothing of its own' : headOfWords(names.join(', '), MAX_LINE);
}

function serverInfo(catalog: Catalog | undefined, status: ConnectionStatus | undefined): readonly string[] {
  const { name, version, protocolVersion } = {
    ...catalog?.info,
    protocolVersion: catalog?.protocolVersion,
    ...status?.info,
  };
  if (name === undefined && protocolVersion === undefined) return [];
  const who = [name ?? 'without a name', version].filter((part) => part !== undefined).join(' ');
  return [headOfWords(`server: ${who.replaceAll('\n', ' ')}, protocol ${protocolVersion ?? 'unknown'}`, MAX_LINE)];
}

function countersLine({ counters, noiseLines }: ConnectionStatus): string {
  const { calls, errors, restarts, p50Ms, p95Ms } = counters;
  const times =
    p50Ms === undefined || p95Ms === undefined ? [] : [`p50 ${Math.round(p50Ms)} ms`, `p95 ${Math.round(p95Ms)} ms`];
  const noise = noiseLines > 0 ? [`${noiseLines} lines on stdout that were no protocol`] : [];
  return ['calls', [`${calls} calls`, `${errors} errors`, `${restarts} restarts`, ...times, ...noise].join(', ')].join(
    ': ',
  );
}

function toolLines(
  { catalog, offered }: Extract<CatalogState, { state: 'listed' }>,
  server: string,
  registrar: RegisteredTools,
): readonly string[] {
  const line = (text: string): string => `  ${headOfWords(printable(text), MAX_REASON)}`;
  const shown = offered.tools.map(({ exposedName, mcpName }) => {
    const name = exposedName === mcpName ? exposedName : `${exposedName} (${mcpName})`;
    const holder = registrar.holder(exposedName);
    if (holder === server) return name;
    return `${name}: not offered, ${holder === undefined ? 'a built-in tool has this name' : `${holder} has this name`}`;
  });
  const { skipped } = catalog;
  return [
    `tools: ${offered.tools.length}`,
    ...shown.map(line),
    ...(offered.hidden === 0 ? [] : [`kept back by "tools" of its options: ${offered.hidden}`]),
    ...(skipped.length === 0 ? [] : [`left out: ${skipped.length}`]),
    ...skipped.map(({ name, reason }) => line(name === '' ? reason : `${name}: ${reason}`)),
  ];
}

function indented(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}

function bounded(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${headOfWords(text, MAX_CHARACTERS - CUT_NOTE.length - 1)}${CUT_NOTE}`;
}
