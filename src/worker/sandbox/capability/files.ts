import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import { ExtensionHostError, messageOf } from '../../../shared/errors.ts';
import { isGranted, type PatternRoots } from './path-patterns.ts';

/** One answer. */
const FILE_BYTES = 1024 * 1024;
const LISTED = 10_000;

export interface FileGrants {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly roots: PatternRoots;
}

/** `fs` of a sandboxed extension: what is opened is looked at through its descriptor, so that no swap of a path helps. */
export class SandboxFiles {
  readonly #grants: FileGrants;

  constructor(grants: FileGrants) {
    this.#grants = grants;
  }

  /** The text of a file of at most 1 MiB. @throws PERMISSION_DENIED, INVALID_ARGUMENT */
  async read(given: string): Promise<string> {
    const location = this.#absolute(given);
    const real = await this.#reachable(location, this.#grants.read, given);
    this.#check(real, this.#grants.read, given);
    await checkKind(real, given);
    // Without O_NONBLOCK a FIFO would hold a thread of the pool until somebody writes.
    const file = await opened(location, constants.O_RDONLY | constants.O_NONBLOCK, given);
    try {
      this.#check(await realPathOf(file, location), this.#grants.read, given);
      const stats = await file.stat();
      if (!stats.isFile()) throw refused('INVALID_ARGUMENT', `${given} is no file`);
      return await readBounded(file, given);
    } finally {
      await file.close();
    }
  }

  /** Names in a folder, sorted; folders end with `/`. */
  async list(given: string): Promise<readonly string[]> {
    const location = this.#absolute(given);
    this.#check(await this.#reachable(location, this.#grants.read, given), this.#grants.read, given);
    const folder = await opened(location, constants.O_RDONLY | constants.O_DIRECTORY, given);
    try {
      this.#check(await realPathOf(folder, location), this.#grants.read, given);
      const entries = await readdir(throughDescriptor(folder, location), { withFileTypes: true });
      return entries
        .slice(0, LISTED)
        .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
        .sort();
    } catch (error) {
      throw asRefusal(error, given);
    } finally {
      await folder.close();
    }
  }

  /** Writes a text of at most 1 MiB, whole. Its folder has to exist. @throws PERMISSION_DENIED, INVALID_ARGUMENT */
  async write(given: string, text: string): Promise<void> {
    if (Buffer.byteLength(text) > FILE_BYTES)
      throw refused('INVALID_ARGUMENT', `${given}: more than ${FILE_BYTES} bytes cannot be written at once`);
    const location = this.#absolute(given);
    const name = path.basename(location);
    const parent = path.dirname(location);
    const wanted = path.join(await this.#reachable(parent, this.#grants.write, given), name);
    this.#check(wanted, this.#grants.write, given);
    const folder = await opened(parent, constants.O_RDONLY | constants.O_DIRECTORY, given);
    try {
      this.#check(path.join(await realPathOf(folder, parent), name), this.#grants.write, given);
      // Below the descriptor, not below the path; never through a link, and nothing is cut before it is known what it is.
      const target = path.join(throughDescriptor(folder, parent), name);
      await checkKind(target, given);
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      const file = await opened(target, flags, given);
      try {
        this.#check(await realPathOf(file, path.join(parent, name)), this.#grants.write, given);
        const stats = await file.stat();
        if (!stats.isFile()) throw refused('INVALID_ARGUMENT', `${given} is no file`);
        // Another name of it may lie anywhere.
        if (stats.nlink > 1) throw denied(given);
        await file.truncate(0);
        await file.writeFile(text);
      } finally {
        await file.close();
      }
    } finally {
      await folder.close();
    }
  }

  /** Relative paths start in the workspace. */
  #absolute(given: string): string {
    if (given === '' || given.includes('\0') || given.length > 4096)
      throw refused('INVALID_ARGUMENT', 'a path is needed');
    return path.resolve(this.#grants.roots.workspace, given);
  }

  /** The real path before anything is opened. What lies outside is denied whether it exists or not: both answers are one. */
  async #reachable(location: string, patterns: readonly string[], given: string): Promise<string> {
    try {
      return await realpath(location);
    } catch (error) {
      if (isGranted(location, patterns, this.#grants.roots)) throw asRefusal(error, given);
      throw denied(given);
    }
  }

  #check(real: string, patterns: readonly string[], given: string): void {
    if (!isGranted(real, patterns, this.#grants.roots)) throw denied(given);
  }
}

/** Before it is opened as well: the other end of a FIFO is woken by that, and some devices do something. */
async function checkKind(location: string, given: string): Promise<void> {
  const stats = await lstat(location).catch(() => undefined);
  // What is missing, and a link, is judged by the opening.
  if (stats && !stats.isFile() && !stats.isSymbolicLink()) throw refused('INVALID_ARGUMENT', `${given} is no file`);
}

async function opened(location: string, flags: number, given: string): Promise<FileHandle> {
  try {
    return await open(location, flags, 0o644);
  } catch (error) {
    throw asRefusal(error, given);
  }
}

async function readBounded(file: FileHandle, given: string): Promise<string> {
  const buffer = Buffer.alloc(FILE_BYTES + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    length += bytesRead;
    if (bytesRead === 0) break;
    if (length > FILE_BYTES) throw refused('INVALID_ARGUMENT', `${given} is larger than ${FILE_BYTES} bytes`);
  }
  return buffer.toString('utf8', 0, length);
}

/** What the descriptor is open on, as the kernel sees it; elsewhere than on Linux the path is resolved again. */
async function realPathOf(file: FileHandle, location: string): Promise<string> {
  return process.platform === 'linux' ? readlink(`/proc/self/fd/${file.fd}`) : realpath(location);
}

function throughDescriptor(folder: FileHandle, location: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${folder.fd}` : location;
}

function denied(given: string): ExtensionHostError {
  return refused('PERMISSION_DENIED', `${given} is not within what this extension was granted`);
}

function refused(code: 'PERMISSION_DENIED' | 'INVALID_ARGUMENT', message: string): ExtensionHostError {
  return new ExtensionHostError(code, message);
}

/** The kernel's word without the absolute path. */
function asRefusal(error: unknown, given: string): ExtensionHostError {
  if (error instanceof ExtensionHostError) return error;
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : messageOf(error);
  // O_NOFOLLOW met a link: where it leads is not asked.
  if (code === 'ELOOP') return denied(given);
  const said = { ENOENT: 'there is no such file or folder', EISDIR: 'it is a folder', ENOTDIR: 'it is no folder' }[
    code
  ];
  return refused('INVALID_ARGUMENT', `${given}: ${said ?? code}`);
}
