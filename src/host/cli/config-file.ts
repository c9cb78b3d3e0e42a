import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { messageOf } from '../../shared/errors.ts';
import { isRecord, type JsonObject, setOwn } from '../../shared/json.ts';
import { DEFAULT_LIMITS, type Limits, resolveLimits } from '../../shared/limits.ts';
import { type McpOptions, parseMcpOptions } from '../../shared/mcp-options.ts';
import { kindOf, OptionReader } from '../../shared/option-reader.ts';
import type { Tier } from '../../shared/sandbox.ts';
import { type DocumentProblem, JsoncDocument } from '../jsonc-document.ts';
import type { ExtensionEntry } from '../options.ts';
import { MIN_SECRET_LENGTH } from '../policy/secret-values.ts';
import { pathInProblem } from '../problem-path.ts';

/** What a configuration file says, checked, with absolute paths. */
export interface CliConfig {
  readonly mcp: McpOptions;
  readonly extensions: readonly ExtensionEntry[];
  /** Folders of drop-ins. */
  readonly extensionDirs: readonly string[];
  readonly limits: Partial<Limits>;
  /** Values that must never come out; `${env:NAME}` is expanded. */
  readonly secrets: readonly string[];
}

/** A file as it was read; `config` is worth something only without problems. */
export interface ConfigFile {
  readonly config: CliConfig;
  /** Each with file and line: `caldera.json:12: mcp.servers.github.comand: unknown key; did you mean "command"?` */
  readonly problems: readonly string[];
}

const KEYS = ['mcp', 'extensions', 'extensionDirs', 'secrets', 'limits'];
const EXTENSION_KEYS = ['path', 'options', 'env', 'tier'];

/** Reads one file of our own format: JSON with comments; paths in it are relative to its folder. Never throws. */
export function readConfigFile(file: string, env: Readonly<Record<string, string | undefined>>): ConfigFile {
  const nothing: CliConfig = { mcp: {}, extensions: [], extensionDirs: [], limits: {}, secrets: [] };
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    return { config: nothing, problems: [`${file}: cannot be read: ${reasonOf(error)}`] };
  }
  const document = new JsoncDocument(content);
  const inText = document.problems;
  const list = (found: readonly DocumentProblem[]): string[] =>
    found.toSorted((a, b) => a.line - b.line).map(({ line, text }) => `${file}:${line}: ${text}`);
  if (document.value === undefined) return { config: nothing, problems: list(inText) };
  if (!isRecord(document.value)) {
    const notObject = { line: 1, text: `must hold an object, not ${kindOf(document.value)}` };
    return { config: nothing, problems: list([notObject]) };
  }
  const problems: string[] = [];
  const config = readSections(document.value, dirname(resolve(file)), env, problems);
  const inSections = problems.map((text) => ({ line: document.lineOf(pathInProblem(text)), text }));
  return { config, problems: list([...inText, ...inSections]) };
}

function readSections(
  value: Readonly<Record<string, unknown>>,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
): CliConfig {
  const read = new OptionReader(value, '', problems);
  read.refuseUnknown(KEYS);
  return {
    mcp: readMcp(read.value('mcp'), folder, problems),
    extensions: readExtensions(read, folder, problems),
    extensionDirs: read.texts('extensionDirs').map((given) => pathFrom(folder, given)),
    limits: readLimits(read, problems),
    secrets: readSecrets(read, env),
  };
}

function readMcp(value: unknown, folder: string, problems: string[]): McpOptions {
  for (const problem of parseMcpOptions(value).problems) {
    const [first] = pathInProblem(problem);
    if (first === undefined) problems.push(`mcp: ${problem}`);
    else problems.push(problem.startsWith('[') ? `mcp${problem}` : `mcp.${problem}`);
  }
  const options: McpOptions = isRecord(value) ? value : {};
  const servers = {};
  for (const [name, server] of Object.entries(options.servers ?? {})) {
    const cwd = isRecord(server) ? server.cwd : undefined;
    const isRelative = typeof cwd === 'string' && !isAbsolute(cwd) && !cwd.includes('${');
    setOwn(servers, name, isRelative ? { ...server, cwd: resolve(folder, cwd) } : server);
  }
  return { ...options, servers };
}

function readExtensions(read: OptionReader, folder: string, problems: string[]): ExtensionEntry[] {
  const list: unknown = read.value('extensions') ?? [];
  if (!Array.isArray(list)) {
    read.problem('extensions', `must be a list of paths or of { "path": "…" }, not ${kindOf(list)}`);
    return [];
  }
  return list.flatMap((entry: unknown, i) => {
    if (typeof entry === 'string') return [{ path: pathFrom(folder, entry) }];
    if (isRecord(entry)) return [readExtension(new OptionReader(entry, `extensions[${i}]`, problems), folder)];
    read.problem(`extensions[${i}]`, `must be a path or { "path": "…" }, not ${kindOf(entry)}`);
    return [];
  });
}

function readExtension(read: OptionReader, folder: string): ExtensionEntry {
  read.refuseUnknown(EXTENSION_KEYS);
  const path = read.text('path', '');
  if (path === '') read.problem('path', "is missing; give the extension's file or folder");
  const options = read.record('options', '{ "name": "value" }');
  return {
    path: pathFrom(folder, path),
    ...(options ? { options: options as JsonObject } : {}),
    ...(read.has('env') ? { env: read.texts('env') } : {}),
    ...(read.has('tier') ? { tier: read.oneOf<Tier>('tier', ['trusted', 'sandboxed'], 'trusted') } : {}),
  };
}

function readLimits(read: OptionReader, problems: string[]): Partial<Limits> {
  const given = read.record('limits', '{ "textLines": 500 }') ?? {};
  const known = Object.keys(DEFAULT_LIMITS);
  new OptionReader(given, 'limits', problems).refuseUnknown(known);
  const limits: Partial<Limits> = Object.fromEntries(Object.entries(given).filter(([name]) => known.includes(name)));
  problems.push(...resolveLimits(limits).problems);
  return limits;
}

/** A variable that is not set hides nothing. */
function readSecrets(read: OptionReader, env: Readonly<Record<string, string | undefined>>): string[] {
  const secrets = read.texts('secrets').map((secret) => expandVariables(secret, env));
  secrets.forEach((secret, i) => {
    if (secret === '' || secret.length >= MIN_SECRET_LENGTH) return;
    read.problem(`secrets[${i}]`, `is too short to be hidden: it needs at least ${MIN_SECRET_LENGTH} characters`);
  });
  return secrets.filter((secret) => secret !== '');
}

/** A `file:` URL stays what it is. */
function pathFrom(folder: string, path: string): string {
  return path.startsWith('file:') ? path : resolve(folder, path);
}

function expandVariables(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replace(/\$\{env:([^}]+)\}/g, (_whole, name: string) => env[name] ?? '');
}

function reasonOf(error: unknown): string {
  const code = isRecord(error) ? error['code'] : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a folder';
  return messageOf(error);
}
