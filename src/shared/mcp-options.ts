/** The options of the MCP extension: what a person writes, and what it becomes. docs/mcp.md explains each. */
import { isRecord, setOwn } from './json.ts';
import { kindOf, OptionReader, pathOf } from './option-reader.ts';
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
}

export interface McpOptions {
  /** By name. A name is 1–64 characters without control characters. */
  readonly servers?: Readonly<Record<string, McpServerOptions>>;
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
}

export interface McpConfig {
  /** In registration order: by name, case-insensitive, then ordinal. */
  readonly servers: readonly ServerConfig[];
  /** null = each server's startup timeout. */
  readonly activationWaitMs: number | null;
}

const SERVER_KEYS: readonly (keyof McpServerOptions)[] = [
  'command',
  'args',
  'cwd',
  'env',
  'toolPrefix',
  'enabled',
  'parallel',
  'startupTimeoutSeconds',
  'callTimeoutSeconds',
  'maxCallSeconds',
  'idleTimeoutSeconds',
  'shutdownTimeoutSeconds',
  'stderrLevel',
];
const LATER_SERVER_KEYS = ['type', 'headers', 'scope', 'stopTool', 'promptSection', 'auth', 'tools'];
const ROOT_KEYS: readonly (keyof McpOptions)[] = ['servers', 'activationWaitSeconds'];
const LATER_ROOT_KEYS = ['playwright', 'maxProcesses', 'environment'];
const STDERR_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

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
  read.refuseUnknown(ROOT_KEYS, LATER_ROOT_KEYS);
  const servers: ServerConfig[] = [];
  for (const [name, entry] of Object.entries(read.record('servers', '{ "name": { "command": "…" } }') ?? {})) {
    if (entry === undefined) continue;
    const before = problems.length;
    const server = readServer(name, entry, problems);
    if (server && problems.length === before) servers.push(server);
  }
  const activationWaitMs =
    read.value('activationWaitSeconds') === null ? null : read.milliseconds('activationWaitSeconds', 20);
  return { config: { servers: servers.sort(byName), activationWaitMs }, problems };
}

/** The host variables that the `env` values of these options ask for with `${env:NAME}`, sorted. Never throws. */
export function mentionedVariables(options: unknown): string[] {
  const names = new Set<string>();
  const servers = isRecord(options) && isRecord(options['servers']) ? Object.values(options['servers']) : [];
  for (const server of servers) {
    const env = isRecord(server) && isRecord(server['env']) ? Object.values(server['env']) : [];
    for (const value of env) {
      if (typeof value !== 'string') continue;
      for (const [, name] of value.matchAll(/\$\{env:([^}]+)\}/g)) if (name !== undefined) names.add(name);
    }
  }
  return [...names].sort(ordinally);
}

function readServer(name: string, entry: unknown, problems: string[]): ServerConfig | undefined {
  const path = pathOf('servers', name);
  const badName = nameProblem(name);
  if (badName) problems.push(`${path}: ${badName}`);
  if (!isRecord(entry)) {
    problems.push(
      `${path}: must be an object such as { "command": "npx", "args": ["-y", "a-server"] }, not ${kindOf(entry)}`,
    );
    return undefined;
  }
  const read = new OptionReader(entry, path, problems);
  read.refuseUnknown([...SERVER_KEYS, 'url' as const], LATER_SERVER_KEYS);
  const callTimeoutMs = read.milliseconds('callTimeoutSeconds', 120);
  return {
    name,
    enabled: read.boolean('enabled', true),
    command: readCommand(read),
    args: read.texts('args'),
    cwd: readCwd(read),
    env: readEnv(read, pathOf(path, 'env'), problems),
    toolPrefix: readPrefix(read),
    parallel: read.boolean('parallel', false),
    startupTimeoutMs: read.milliseconds('startupTimeoutSeconds', 60),
    callTimeoutMs,
    maxCallMs: read.milliseconds('maxCallSeconds', Math.max(600, callTimeoutMs / 1000)),
    idleTimeoutMs: read.milliseconds('idleTimeoutSeconds', 1800, 'never'),
    shutdownTimeoutMs: read.milliseconds('shutdownTimeoutSeconds', 5),
    stderrLevel: read.oneOf('stderrLevel', STDERR_LEVELS, 'warn'),
  };
}

function nameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'the name of a server must not be empty or blank';
  if (name.trim() !== name) return 'the name of a server must not begin or end with a space';
  if (name.length > 64) return 'the name of a server must have at most 64 characters';
  const clean = printable(name) === name && !name.includes('\t');
  return clean ? undefined : 'the name of a server must not hold control characters';
}

function readCommand(read: OptionReader): string {
  if (read.has('url')) {
    read.problem(
      'url',
      'remote servers are not supported yet in this version: only stdio servers, which have a "command"',
    );
    return '';
  }
  const command = read.text('command', '');
  if (!read.has('command')) read.problem('command', 'is missing; give the program to start, such as "npx"');
  else if (typeof read.value('command') === 'string' && command.trim() === '') {
    read.problem('command', 'must not be empty; give the program to start, such as "npx"');
  }
  return command;
}

function readCwd(read: OptionReader): string | null {
  if (read.value('cwd') === null || !read.has('cwd')) return null;
  const cwd = read.text('cwd', '.');
  if (cwd.trim() === '') read.problem('cwd', 'must not be empty; give a folder, or null for the workspace');
  return cwd;
}

function readPrefix(read: OptionReader): string {
  const prefix = read.text('toolPrefix', '');
  if (!/^[A-Za-z0-9_-]*$/.test(prefix)) {
    read.problem('toolPrefix', 'may hold only letters A-Z and a-z, digits, "_" and "-"');
  } else if (prefix.startsWith('mcp__')) {
    read.problem('toolPrefix', 'must not start with "mcp__": other programs put that in front themselves');
  }
  return prefix;
}

function readEnv(read: OptionReader, path: string, problems: string[]): Readonly<Record<string, string | null>> {
  const env: Record<string, string | null> = {};
  for (const [name, value] of Object.entries(read.record('env', '{ "NAME": "value" }') ?? {})) {
    if (value === undefined) continue;
    const at = pathOf(path, name);
    if (name === '' || name.includes('=') || name.includes('\0')) {
      problems.push(`${at}: the name of a variable must not be empty and must not hold "=" or NUL`);
    } else if (typeof value === 'string' || value === null) setOwn(env, name, value);
    else problems.push(`${at}: must be a string, or null to remove the variable, not ${kindOf(value)}`);
  }
  return env;
}

function byName(a: ServerConfig, b: ServerConfig): number {
  return ordinally(a.name.toLowerCase(), b.name.toLowerCase()) || ordinally(a.name, b.name);
}

function ordinally(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
