import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ExtensionHostError, messageOf } from '../shared/errors.ts';
import { isRecord } from '../shared/json.ts';
import { MANIFEST_BYTES } from './extension-manifest.ts';
import type { ExtensionEntry } from './options.ts';
import { readRegularFile } from './regular-file.ts';
import type { ResolvedExtension } from './thread/extension-thread.ts';
import { MCP_EXTENSION } from './thread/worker-entry.ts';

const SUFFIXES = ['.ts', '.js', '.mjs'];

/**
 * Finds the file behind an extension's path: a file, a `file:` URL, or a folder whose `package.json` names one (`exports`
 * or `main`) or that has an index.
 * @throws EXTENSION_LOAD_FAILED naming the path and what would do
 */
export function resolveExtension(given: string | ExtensionEntry, taken: ReadonlySet<string>): ResolvedExtension {
  const entry: ExtensionEntry = typeof given === 'string' ? { path: given } : given;
  if (typeof entry.path !== 'string' || entry.path === '') {
    throw new ExtensionHostError('EXTENSION_LOAD_FAILED', 'an extension needs a path: a file, a folder or a file: URL');
  }
  const location = toPath(entry.path);
  const stats = statSync(location, { throwIfNoEntry: false });
  if (!stats) throw failed(location, 'there is no such file or folder');
  const file = stats.isDirectory() ? entryOfFolder(location) : location;
  if (!SUFFIXES.includes(path.extname(file))) throw failed(location, `an extension is a ${SUFFIXES.join(', ')} file`);
  // The thread that opens a FIFO waits for ever, and cannot be ended.
  if (!statSync(file).isFile()) throw failed(file, 'it is no regular file');
  const url = pathToFileURL(file).href;
  const name = stats.isDirectory() ? path.basename(location) : path.basename(file, path.extname(file));
  const id = url === MCP_EXTENSION.href ? 'mcp' : name;
  return {
    id: freeId(id, taken),
    path: location,
    url,
    options: entry.options ?? {},
    env: entry.env ?? [],
    tier: 'trusted',
  };
}

/** The absolute path of a path or a `file:` URL. */
export function toPath(given: string): string {
  if (!given.startsWith('file:')) return path.resolve(given);
  try {
    return fileURLToPath(given);
  } catch (error) {
    throw failed(given, messageOf(error));
  }
}

/** The file a folder without a manifest of ours starts with. @throws EXTENSION_LOAD_FAILED */
export function entryOfFolder(folder: string): string {
  const manifest = path.join(folder, 'package.json');
  const named = existsSync(manifest) ? entryOfManifest(manifest) : undefined;
  const candidates = named === undefined ? SUFFIXES.map((suffix) => `index${suffix}`) : [named];
  const found = candidates.map((name) => path.resolve(folder, name)).find((file) => existsSync(file));
  if (found) return found;
  throw failed(
    folder,
    named === undefined
      ? 'the folder has neither a package.json with "exports" or "main" nor an index.ts, index.js or index.mjs'
      : `its package.json names ${named}, which is missing`,
  );
}

function entryOfManifest(file: string): string | undefined {
  let text: string;
  try {
    text = readRegularFile(file, MANIFEST_BYTES).toString('utf8');
  } catch (error) {
    throw failed(file, messageOf(error));
  }
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    throw failed(file, `it is no JSON: ${messageOf(error)}`);
  }
  if (!isRecord(manifest)) throw failed(file, 'it is no JSON object');
  return exportOf(manifest['exports']) ?? (typeof manifest['main'] === 'string' ? manifest['main'] : undefined);
}

function exportOf(exports: unknown): string | undefined {
  if (typeof exports === 'string') return exports;
  if (!isRecord(exports)) return undefined;
  if ('.' in exports) return exportOf(exports['.']);
  for (const condition of ['node', 'import', 'default']) {
    const found = exportOf(exports[condition]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The id itself, or with `-2` and so on when it is taken. */
export function freeId(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted;
  let number = 2;
  while (taken.has(`${wanted}-${number}`)) number += 1;
  return `${wanted}-${number}`;
}

function failed(what: string, why: string): ExtensionHostError {
  return new ExtensionHostError('EXTENSION_LOAD_FAILED', `cannot load the extension at ${what}: ${why}`);
}
