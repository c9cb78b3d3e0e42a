/** The options of the MCP extension: what a person writes, and what it becomes. docs/configuration.md explains each. */
import { isRecord } from './json.ts';
import { readServer } from './mcp-server-entry.ts';
import { kindOf, OptionReader, pathOf } from './option-reader.ts';
import {
  PLAYWRIGHT_SERVER,
  type PlaywrightConfig,
  type PlaywrightOptions,
  playwrightServer,
  readPlaywright,
} from './playwright-preset.ts';
import { printable } from './printable.ts';

/** One MCP server as written in a configuration. Only `command` is required. */
export interface McpServerOptions {
  /** The program; `${workspace}` expands to the session's cwd (a temp folder during discovery). */
  readonly command: string;
  /** Default none. `${workspace}` expands. */
  readonly args?: readonly string[];
  /** Default `${workspace}`; null is the default. */
  readonly cwd?: string | null;
  /** Explicit entries over the filtered environment; `${env:NAME}` is a host variable (unset → empty), null removes. */
  readonly env?: Readonly<Record<string, string | null>>;
  /** Default none; `[A-Za-z0-9_-]*`, not starting with `mcp__`. */
  readonly toolPrefix?: string;
  /** Default true. */
  readonly enabled?: boolean;
  /** Default false: calls of one session run one after another. */
  readonly parallel?: boolean;
  /** Default 60. Covers start, handshake and listing. */
  readonly startupTimeoutSeconds?: number;
  /** Default 120. From the write of a call on; progress renews it. */
  readonly callTimeoutSeconds?: number;
  /** Default 600, or `callTimeoutSeconds` when that is longer. Never renewed. */
  readonly maxCallSeconds?: number;
  /** Default 1800. 0 = an idle process is never stopped. */
  readonly idleTimeoutSeconds?: number;
  /** Default 5. The whole stop ladder of one process. */
  readonly shutdownTimeoutSeconds?: number;
  /** Default `warn`. */
  readonly stderrLevel?: 'debug' | 'info' | 'warn' | 'error';
  /** Default `session`: each session has a process of its own. `host`: one process, cwd the agent dir, and one queue for all sessions; no `${workspace}`. */
  readonly scope?: 'session' | 'host';
  /** Default null. A tool called without arguments before the process is ended, so that it can save its state. */
  readonly stopTool?: string | null;
  /** Default null. Text for the system prompt, under the server's name, while any of its tools is active. */
  readonly promptSection?: string | null;
  /** Which tools are offered: globs (`*`, `?`) over the server's own names. Default everything. */
  readonly tools?: { readonly include?: readonly string[]; readonly exclude?: readonly string[] };
  /** Only `stdio` in this version. */
  readonly type?: 'stdio';
}

export interface McpOptions {
  /** By name. A name is 1–64 characters without control characters. */
  readonly servers?: Readonly<Record<string, McpServerOptions>>;
  /** The browser preset: becomes the server `playwright`. */
  readonly playwright?: PlaywrightOptions;
  /** Default 64. Server processes of all sessions together; over it the longest idle one is stopped, or a call waits. */
  readonly maxProcesses?: number;
  /** Default true: PLAYWRIGHT_* variables fill in what `playwright` leaves open. */
  readonly environment?: boolean;
  /** Default 20. How long an opening session waits for servers; null = until each startup timeout. */
  readonly activationWaitSeconds?: number | null;
}

/** A server entry with its defaults filled in and its times in ms. Placeholders are still unexpanded. */
export interface ServerConfig {
  readonly name: string;
  readonly enabled: boolean;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string | null>>;
  readonly toolPrefix: string;
  readonly parallel: boolean;
  readonly startupTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly maxCallMs: number;
  /** 0 = never. */
  readonly idleTimeoutMs: number;
  readonly shutdownTimeoutMs: number;
  readonly stderrLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly scope: 'session' | 'host';
  readonly stopTool: string | null;
  readonly promptSection: string | null;
  readonly tools: { readonly include: readonly string[]; readonly exclude: readonly string[] };
  /** Set when a preset made the entry. */
  readonly preset: 'playwright' | null;
}

export interface McpConfig {
  /** In registration order: by name, case-insensitive, then ordinal; the enabled preset last. */
  readonly servers: readonly ServerConfig[];
  readonly playwright: PlaywrightConfig;
  readonly maxProcesses: number;
  /** False when the environment has been applied, or must not be. */
  readonly environment: boolean;
  /** null = each server's startup timeout. */
  readonly activationWaitMs: number | null;
}

const ROOT_KEYS: readonly (keyof McpOptions)[] = [
  'servers',
  'playwright',
  'activationWaitSeconds',
  'maxProcesses',
  'environment',
];
export const DEFAULT_MAX_PROCESSES = 64;

/**
 * Checks what a person wrote and fills in the defaults. Every problem is listed at once, each with the path of the value and
 * what to do; a server with a problem is left out of `config`. Never throws. `undefined` is `{}`.
 */
export function parseMcpOptions(options: unknown): {
  readonly config: McpConfig;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const given = options ?? {};
  if (!isRecord(given))
    problems.push(`the options must be an object such as { "servers": { … } }, not ${kindOf(given)}`);
  const read = new OptionReader(isRecord(given) ? given : {}, '', problems);
  read.refuseUnknown(ROOT_KEYS);
  const servers: ServerConfig[] = [];
  for (const [name, entry] of Object.entries(read.record('servers', '{ "name": { "command": "…" } }') ?? {})) {
    if (entry === undefined) continue;
    const before = problems.length;
    const server = readServer(name, entry, pathOf('servers', name), problems);
    if (server && problems.length === before) servers.push(server);
  }
  const playwright = readPlaywright(
    new OptionReader(read.record('playwright', '{ "enabled": true }') ?? {}, 'playwright', problems),
  );
  const activationWaitMs =
    read.value('activationWaitSeconds') === null ? null : read.milliseconds('activationWaitSeconds', 20);
  const maxProcesses = read.count('maxProcesses', DEFAULT_MAX_PROCESSES);
  const environment = read.boolean('environment', true);
  const config = { servers: servers.sort(byName), playwright, activationWaitMs, maxProcesses, environment };
  return { config: withPreset(config), problems };
}

/** Where the preset belongs: behind the servers of the options. A server of its name takes its place. */
function withPreset(config: McpConfig): McpConfig {
  const { servers, playwright } = config;
  if (!playwright.enabled || servers.some(({ name }) => name === PLAYWRIGHT_SERVER)) return config;
  const preset = readServer(PLAYWRIGHT_SERVER, playwrightServer(playwright), PLAYWRIGHT_SERVER, []);
  return preset === undefined ? config : { ...config, servers: [...servers, { ...preset, preset: 'playwright' }] };
}

/** True when the preset is enabled and a server of its name is in its place. */
export function presetIsReplaced({ playwright, servers }: McpConfig): boolean {
  return playwright.enabled && servers.some(({ name, preset }) => name === PLAYWRIGHT_SERVER && preset === null);
}

/** An entry of settings.json that cannot be used. */
export interface BadEntry {
  readonly name: string;
  readonly reason: string;
}

/**
 * Reads `mcpServers` of settings.json: the entries of `servers`, in the file's order. A bad entry is told apart and harms no
 * other; a name that is none is made printable. Never throws.
 */
export function parseSettingsServers(settings: unknown): {
  readonly servers: readonly ServerConfig[];
  readonly bad: readonly BadEntry[];
} {
  const given = isRecord(settings) ? settings['mcpServers'] : undefined;
  if (given === undefined) return { servers: [], bad: [] };
  if (!isRecord(given)) {
    return {
      servers: [],
      bad: [{ name: 'mcpServers', reason: `mcpServers must be an object of servers, not ${kindOf(given)}` }],
    };
  }
  const servers: ServerConfig[] = [];
  const bad: BadEntry[] = [];
  for (const [name, entry] of Object.entries(given)) {
    const problems: string[] = [];
    const server = readServer(name, entry, pathOf('mcpServers', name), problems);
    if (server && problems.length === 0) servers.push(server);
    else bad.push({ name: printable(name.slice(0, 64)), reason: problems.join('; ') });
  }
  return { servers, bad };
}

/** The host variables that `mcpServers` of settings.json mentions. Never throws. */
export function variablesOfSettings(settings: unknown): string[] {
  return isRecord(settings) ? mentionedVariables({ servers: settings['mcpServers'] }) : [];
}

/** The host variables that these options ask for with `${env:NAME}` in env values, headers and urls, sorted. Never throws. */
export function mentionedVariables(options: unknown): string[] {
  const names = new Set<string>();
  const servers = isRecord(options) && isRecord(options['servers']) ? Object.values(options['servers']) : [];
  for (const server of servers) {
    if (!isRecord(server)) continue;
    const { env, headers, url } = server;
    for (const value of [...valuesOf(env), ...valuesOf(headers), url]) {
      if (typeof value !== 'string') continue;
      for (const [, name] of value.matchAll(/\$\{env:([^}]+)\}/g)) if (name !== undefined) names.add(name);
    }
  }
  return [...names].sort(ordinally);
}

function valuesOf(entries: unknown): readonly unknown[] {
  return isRecord(entries) ? Object.values(entries) : [];
}

function byName(a: ServerConfig, b: ServerConfig): number {
  return ordinally(a.name.toLowerCase(), b.name.toLowerCase()) || ordinally(a.name, b.name);
}

function ordinally(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
