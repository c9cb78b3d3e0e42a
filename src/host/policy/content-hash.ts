import { createHash } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { ExtensionHostError, messageOf } from '../../shared/errors.ts';
import { loadRegularFile } from '../regular-file.ts';

/** A folder over these is no extension: hashing it would hold up the start of a host. */
const MOST_FILES = 5000;
const MOST_BYTES = 64 * 1024 * 1024;

/** What the sandbox's loader serves. */
const SERVED = /(?<!\.d)\.(ts|js|mjs)$/;

export interface ContentHash {
  /** `sha256-…` over every file's path and bytes, sorted by path. */
  readonly hash: string;
  /** The files the sandbox may be served, relative with `/`, with the SHA-256 (hex) of their bytes. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Hashes what an extension consists of: one file, or every regular file below its folder except `.git`. Symlinks are not
 * followed: what they name inside is hashed under its own path, and nothing outside is served.
 * @throws EXTENSION_LOAD_FAILED for a folder that is too large, or a file that cannot be read
 */
export async function hashContent(root: string, single?: string): Promise<ContentHash> {
  const names = single === undefined ? await listFiles(root) : [single];
  const total = createHash('sha256');
  const files: Record<string, string> = {};
  let bytes = 0;
  for (const name of names) {
    const location = path.join(root, name);
    const content = await loadRegularFile(location, MOST_BYTES).catch((error: unknown) => {
      throw unfit(location, messageOf(error));
    });
    bytes += content.length;
    if (bytes > MOST_BYTES) throw tooLarge(root, `more than ${MOST_BYTES} bytes`);
    const digest = createHash('sha256').update(content).digest('hex');
    total.update(`${JSON.stringify(name)}:${digest}\n`);
    if (SERVED.test(name)) files[name] = digest;
  }
  return { hash: `sha256-${total.digest('base64url')}`, files };
}

async function listFiles(root: string): Promise<readonly string[]> {
  const found: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(path.join(root, folder), { withFileTypes: true })) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (entry.name !== '.git') await walk(name);
      } else if (entry.isFile() && (await lstat(path.join(root, name))).isFile()) found.push(name);
      if (found.length > MOST_FILES) throw tooLarge(root, `more than ${MOST_FILES} files`);
    }
  };
  await walk('');
  return found.sort();
}

function unfit(location: string, why: string): ExtensionHostError {
  return new ExtensionHostError('EXTENSION_LOAD_FAILED', `cannot load ${location}: ${why}`);
}

function tooLarge(root: string, why: string): ExtensionHostError {
  return new ExtensionHostError(
    'EXTENSION_LOAD_FAILED',
    `the extension at ${root} has ${why}; give it a folder of its own`,
  );
}
