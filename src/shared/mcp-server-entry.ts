import { isRecord, setOwn } from './json.ts';
import type { McpServerOptions, ServerConfig } from './mcp-options.ts';
import { kindOf, OptionReader, pathOf } from './option-reader.ts';
import { printable } from './printable.ts';

/** Every key of an entry. */
const SERVER_KEYS: readonly (keyof McpServerOptions)[] = [
  'command',
  'args',
  'cwd',
  'env',
  'toolPrefix',
  'enabled',
  'parallel',
  'scope',
  'startupTimeoutSeconds',
  'callTimeoutSeconds',
  'maxCallSeconds',
  'idleTimeoutSeconds',
  'shutdownTimeoutSeconds',
  'stopTool',
  'stderrLevel',
  'promptSection',
  'tools',
  'type',
];
/** Of remote servers. */
const LATER_KEYS = ['headers', 'auth'];
const STDERR_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const WORKSPACE = `\${workspace}`;
const SCOPES = ['session', 'host'] as const;

/**
 * Checks one entry and fills in its defaults. What is wrong is added to `problems`, each with the path of the value; `undefined`
 * when it is no object at all.
 */
export function readServer(name: string, entry: unknown, path: string, problems: string[]): ServerConfig | undefined {
  const badName = nameProblem(name);
  if (badName) problems.push(`${path}: ${badName}`);
  if (!isRecord(entry)) {
    problems.push(
      `${path}: must be an object such as { "command": "npx", "args": ["-y", "a-server"] }, not ${kindOf(entry)}`,
    );
    return undefined;
  }
  const read = new OptionReader(entry, path, problems);
  read.refuseUnknown([...SERVER_KEYS, 'url'], LATER_KEYS);
  readType(read);
  const callTimeoutMs = read.milliseconds('callTimeoutSeconds', 120);
  const config: ServerConfig = {
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
    scope: read.oneOf('scope', SCOPES, 'session'),
    stopTool: read.textOrNull('stopTool'),
    promptSection: read.textOrNull('promptSection'),
    tools: readFilters(read, pathOf(path, 'tools'), problems),
    preset: null,
  };
  if (config.scope === 'host' && mentionsWorkspace(config)) {
    read.problem('scope', 'a server of all sessions ("host") has no workspace; take ${workspace} out of the entry');
  }
  return config;
}

function mentionsWorkspace({ command, args, cwd, env }: ServerConfig): boolean {
  return [command, ...args, cwd, ...Object.values(env)].some((text) => text?.includes(WORKSPACE));
}

function readType(read: OptionReader): void {
  // Of a remote server the url is the problem.
  if (!read.has('type') || read.has('url') || read.value('type') === 'stdio') return;
  read.problem('type', 'must be "stdio", or be left out: remote servers are not supported yet in this version');
}

function readFilters(read: OptionReader, path: string, problems: string[]): ServerConfig['tools'] {
  const filters = new OptionReader(read.record('tools', '{ "include": ["*"], "exclude": [] }') ?? {}, path, problems);
  filters.refuseUnknown(['include', 'exclude']);
  return { include: filters.has('include') ? filters.texts('include') : ['*'], exclude: filters.texts('exclude') };
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
