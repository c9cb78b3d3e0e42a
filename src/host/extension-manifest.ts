import path from 'node:path';
import { ExtensionHostError, messageOf } from '../shared/errors.ts';
import { isRecord } from '../shared/json.ts';
import { OptionReader } from '../shared/option-reader.ts';
import { PERMISSION_KEYS, type Permissions, type SandboxLimits, type Tier } from '../shared/sandbox.ts';
import { readRegularFile } from './regular-file.ts';

/** What an extension says about itself: `extension.json`, or `"caldera"` in its package.json. All of it is a wish. */
export interface ExtensionManifest {
  readonly id?: string;
  readonly version?: string;
  /** Relative to the folder. */
  readonly main?: string;
  readonly tier: Tier;
  readonly permissions: Permissions;
  readonly limits: Partial<SandboxLimits>;
}

/** Longer ones are no manifests. */
export const MANIFEST_BYTES = 1024 * 1024;
const KEYS = ['id', 'version', 'main', 'tier', 'permissions', 'limits'];
const LIMIT_KEYS = ['memoryMb', 'callMs', 'cpuMs', 'resultBytes'] as const satisfies (keyof SandboxLimits)[];
export const NO_MANIFEST: ExtensionManifest = { tier: 'sandboxed', permissions: {}, limits: {} };

/**
 * Reads the manifest of a folder; `undefined` when it has none.
 * @throws EXTENSION_LOAD_FAILED with every problem: an unknown key is one, since it may be a permission nobody looked at
 */
export function readManifest(folder: string): ExtensionManifest | undefined {
  const own = readJson(path.join(folder, 'extension.json'));
  if (own !== undefined) return parseManifest(own, 'extension.json');
  const packed = readJson(path.join(folder, 'package.json'));
  const section = isRecord(packed) ? packed['caldera'] : undefined;
  return section === undefined ? undefined : parseManifest(section, 'package.json, "caldera"');
}

/** @throws EXTENSION_LOAD_FAILED with every problem */
function parseManifest(value: unknown, where: string): ExtensionManifest {
  const problems: string[] = [];
  if (!isRecord(value)) throw invalid(where, ['it must be an object']);
  const read = new OptionReader(value, '', problems);
  read.refuseUnknown(KEYS);
  const [id, version, main] = [read.text('id', ''), read.text('version', ''), read.text('main', '')];
  if (id !== '' && !/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id))
    read.problem('id', 'must match [A-Za-z0-9][A-Za-z0-9._-]{0,127}');
  const manifest: ExtensionManifest = {
    ...(id === '' ? {} : { id }),
    ...(version === '' ? {} : { version }),
    ...(main === '' ? {} : { main }),
    tier: read.oneOf<Tier>('tier', ['sandboxed', 'trusted'], 'sandboxed'),
    permissions: readPermissions(
      read.record('permissions', '{ "storage": { "maxBytes": 1024 } }') ?? {},
      'permissions',
      problems,
    ),
    limits: readLimits(read.record('limits', '{ "callMs": 1000 }') ?? {}, problems),
  };
  if (problems.length > 0) throw invalid(where, problems);
  return manifest;
}

/** Permissions as a manifest or a grant writes them. Problems are added to `problems`. */
export function readPermissions(value: Readonly<Record<string, unknown>>, at: string, problems: string[]): Permissions {
  const read = new OptionReader(value, at, problems);
  read.refuseUnknown(PERMISSION_KEYS);
  const section = (key: string, keys: readonly string[]): OptionReader | undefined => {
    const given = read.record(key, `{ "${keys[0]}": … }`);
    if (!given) return undefined;
    const reader = new OptionReader(given, `${at}.${key}`, problems);
    reader.refuseUnknown(keys);
    return reader;
  };
  const net = section('net', ['hosts', 'methods']);
  const env = section('env', ['names']);
  const reading = section('fs.read', ['paths']);
  const writing = section('fs.write', ['paths']);
  const mcp = section('mcp', ['servers', 'tools']);
  const storage = section('storage', ['maxBytes']);
  return {
    ...(net ? { net: { hosts: net.texts('hosts'), methods: methodsOf(net) } } : {}),
    ...(env ? { env: { names: env.texts('names') } } : {}),
    ...(reading ? { 'fs.read': { paths: pathsOf(reading) } } : {}),
    ...(writing ? { 'fs.write': { paths: pathsOf(writing) } } : {}),
    ...(mcp ? { mcp: { servers: mcp.texts('servers'), tools: mcp.texts('tools') } } : {}),
    ...(storage ? { storage: { maxBytes: positive(storage, 'maxBytes') } } : {}),
  };
}

function methodsOf(read: OptionReader): readonly string[] {
  return read.has('methods') ? read.texts('methods').map((method) => method.toUpperCase()) : ['GET'];
}

function pathsOf(read: OptionReader): readonly string[] {
  const paths = read.texts('paths');
  for (const [i, given] of paths.entries()) {
    if (given.split('/').includes('..')) read.problem(`paths[${i}]`, 'must not climb with ".."');
    else if (!/^(\$\{(extension|workspace)\}(\/|$)|\/)/.test(given)) {
      read.problem(`paths[${i}]`, 'must start with ${extension}, ${workspace} or /');
    }
  }
  return paths;
}

function readLimits(value: Readonly<Record<string, unknown>>, problems: string[]): Partial<SandboxLimits> {
  const read = new OptionReader(value, 'limits', problems);
  read.refuseUnknown(LIMIT_KEYS);
  return Object.fromEntries(LIMIT_KEYS.filter((key) => read.has(key)).map((key) => [key, positive(read, key)]));
}

function positive(read: OptionReader, key: string): number {
  const value = read.value(key);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  read.problem(key, 'must be a positive whole number');
  return 1;
}

/** `undefined` when it is not there; one that is there and cannot be read may ask for limits, so it is not skipped. */
function readJson(file: string): unknown {
  let text: string;
  try {
    text = readRegularFile(file, MANIFEST_BYTES).toString('utf8');
  } catch (error) {
    if (isRecord(error) && error['code'] === 'ENOENT') return undefined;
    throw invalid(path.basename(file), [messageOf(error)]);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(path.basename(file), [messageOf(error)]);
  }
}

function invalid(where: string, problems: readonly string[]): ExtensionHostError {
  return new ExtensionHostError('EXTENSION_LOAD_FAILED', `${where} is not valid: ${problems.join('; ')}`, {
    data: { problems },
  });
}
