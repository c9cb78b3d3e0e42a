import type { CommandDefinition } from '../../shared/extension-api.ts';
import type { ServerConfig } from '../../shared/mcp-options.ts';
import { nearestName } from '../../shared/nearest-name.ts';
import { printable } from '../../shared/printable.ts';
import type { Catalog } from './catalog/catalog.ts';
import type { ToolRegistrar } from './catalog/tool-registrar.ts';
import type { ConnectionStatus, ServerConnection } from './connection/server-connection.ts';
import type { SessionServer } from './session-server.ts';

const MAX_CHARACTERS = 24_000;
const MAX_LINE = 2000;
const MAX_REASON = 300;

type OfferedTools = Pick<ToolRegistrar, 'count' | 'holder'>;

/** One server as the command shows it. */
export type ServerView = Pick<SessionServer, 'config' | 'listing'> & {
  readonly connection: Pick<ServerConnection, 'status'> | undefined;
};

/** What the command looks at. */
export interface McpCommandSubject {
  readonly servers: readonly ServerView[];
  readonly registrar: OfferedTools;
  restart(name: string): Promise<void>;
}

/** `/mcp`, `/mcp <name>` and `/mcp restart <name>`. What servers wrote is escaped; values of env entries are never shown. */
export function mcpCommand(subject: McpCommandSubject): CommandDefinition {
  return {
    description: 'MCP servers of this session: /mcp, /mcp <name>, /mcp restart <name>',
    handler: async (args) => bounded(await answer(subject, args.trim())),
  };
}

async function answer(subject: McpCommandSubject, args: string): Promise<string> {
  const { servers, registrar } = subject;
  if (args === '') return listText(servers, registrar);
  const named = find(servers, args);
  if (named) return serverText(named, registrar);
  const restart = /^restart\s+(.*)$/s.exec(args)?.[1];
  if (restart === undefined) return unknownServer(servers, args);
  const server = find(servers, restart);
  if (!server) return unknownServer(servers, restart);
  if (!server.config.enabled) return `${restart} is disabled; set "enabled" to true in its options`;
  await subject.restart(restart);
  return `${stateLine(server, registrar.count(restart))}\nIts next call runs on a fresh process.`;
}

function find(servers: readonly ServerView[], name: string): ServerView | undefined {
  return servers.find(({ config }) => config.name === name);
}

function unknownServer(servers: readonly ServerView[], name: string): string {
  const names = servers.map(({ config }) => config.name);
  const nearest = nearestName(name, names);
  const mend =
    nearest === undefined ? 'none is configured' : `did you mean ${printable(nearest)}? /mcp lists all ${names.length}`;
  return `there is no MCP server ${printable(name.slice(0, MAX_REASON))}; ${mend}`;
}

function listText(servers: readonly ServerView[], registrar: OfferedTools): string {
  if (servers.length === 0) return 'no MCP servers are configured';
  return servers.map((server) => stateLine(server, registrar.count(server.config.name))).join('\n');
}

/** `github: running, 12 tools`. A failure is one line, however long its reason. */
function stateLine(server: ServerView, tools: number): string {
  const { state } = server.listing;
  const counted = state === 'listed' || tools > 0 ? `, ${tools} ${tools === 1 ? 'tool' : 'tools'}` : '';
  return `${printable(server.config.name)}: ${stateOf(server)}${counted}`;
}

function stateOf({ listing, connection }: ServerView): string {
  if (listing.state === 'disabled') return 'disabled';
  if (listing.state === 'starting') return 'starting';
  if (listing.state === 'failed') return `failed: ${firstLine(listing.reason)}`;
  const status = connection?.status();
  if (status === undefined || status.state === 'not-started') return 'not started';
  if (status.state === 'exited') return 'exited (restarts on the next call)';
  if (status.state === 'failed') return `failed: ${firstLine(status.lastError ?? 'the reason is unknown')}`;
  return status.state;
}

function firstLine(text: string): string {
  return cut(printable(text.trim().split('\n', 1)[0] ?? ''), MAX_REASON);
}

function serverText(server: ServerView, registrar: OfferedTools): string {
  const { config, listing, connection } = server;
  const status = connection?.status();
  const catalog = listing.state === 'listed' ? listing.catalog : undefined;
  const lastError = status?.lastError ?? (listing.state === 'failed' ? listing.reason : undefined);
  return [
    stateLine(server, registrar.count(config.name)),
    `command: ${commandLine(config)}`,
    `cwd: ${config.cwd ?? 'the workspace'}`,
    `env: ${envNames(config)}`,
    ...serverInfo(catalog, status),
    ...(lastError === undefined ? [] : ['last error:', indented(lastError)]),
    ...(status === undefined || status.stderrTail === '' ? [] : ['stderr, last lines:', indented(status.stderrTail)]),
    ...(status === undefined ? [] : [countersLine(status)]),
    // Last, because the end is what is cut when there is too much.
    ...(catalog === undefined ? [] : toolLines(catalog, registrar)),
  ]
    .map((text) => printable(text, { keepNewlines: true }))
    .join('\n');
}

/** As configured: placeholders are not expanded. An argument that is no plain word is quoted. */
function commandLine({ command, args }: ServerConfig): string {
  const words = [command, ...args].map((word) => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word)));
  return cut(words.join(' '), MAX_LINE);
}

function envNames({ env }: ServerConfig): string {
  const names = Object.entries(env).map(([name, value]) => (value === null ? `${name} (removed)` : name));
  return names.length === 0 ? 'nothing of its own' : cut(names.join(', '), MAX_LINE);
}

function serverInfo(catalog: Catalog | undefined, status: ConnectionStatus | undefined): readonly string[] {
  const { name, version, protocolVersion } = {
    ...catalog?.info,
    protocolVersion: catalog?.protocolVersion,
    ...status?.info,
  };
  if (name === undefined && protocolVersion === undefined) return [];
  const who = [name ?? 'without a name', version].filter((part) => part !== undefined).join(' ');
  return [cut(`server: ${who.replaceAll('\n', ' ')}, protocol ${protocolVersion ?? 'unknown'}`, MAX_LINE)];
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

function toolLines({ server, tools, skipped }: Catalog, registrar: OfferedTools): readonly string[] {
  const line = (text: string): string => `  ${cut(printable(text), MAX_REASON)}`;
  const shown = tools.map(({ exposedName, mcpName }) => {
    const name = exposedName === mcpName ? exposedName : `${exposedName} (${mcpName})`;
    const holder = registrar.holder(exposedName);
    if (holder === server) return name;
    return `${name}: not offered, ${holder === undefined ? 'a built-in tool has this name' : `${holder} has this name`}`;
  });
  return [
    `tools: ${tools.length}`,
    ...shown.map(line),
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

function cut(text: string, maxCharacters: number): string {
  return text.length > maxCharacters ? `${wholeCharacters(text, maxCharacters - 1)}…` : text;
}

function bounded(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  const note = '\n… (cut)';
  return wholeCharacters(text, MAX_CHARACTERS - note.length) + note;
}

/** The head of a text that does not end in half a character. */
function wholeCharacters(text: string, units: number): string {
  const last = text.charCodeAt(units - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? units - 1 : units);
}
