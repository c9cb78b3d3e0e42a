import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { GUEST_LIBRARY } from './guest-program.ts';

const LIBRARY = 'caldera/extension';
const SCHEME = 'ext:';
const SUFFIXES = ['', '.ts', '.js', '.mjs', '/index.ts', '/index.js', '/index.mjs'];

export interface ModuleLoaderOptions {
  /** Real path of the extension's folder. */
  readonly root: string;
  /** What may be served, by path relative to the root, with its SHA-256 (hex). */
  readonly files: Readonly<Record<string, string>>;
  /** Turns TypeScript into JavaScript. @throws with what cannot be turned */
  readonly strip: (source: string, file: string) => string;
}

/**
 * The imports of one extension: files of its own real folder whose bytes are the ones that were hashed, and
 * `caldera/extension`. Each file is read once a thread; every session is served the same text.
 */
export class ModuleLoader {
  readonly #options: ModuleLoaderOptions;
  readonly #sources = new Map<string, string>();

  constructor(options: ModuleLoaderOptions) {
    this.#options = options;
  }

  /** The name of the entry for the guest. */
  static entry(file: string): string {
    return SCHEME + file;
  }

  /** The canonical name of an import. `base` may be anything: it only says where a relative path starts. */
  resolve(base: string, specifier: string): string {
    if (specifier === LIBRARY) return LIBRARY;
    if (base === 'caldera:guest' && specifier.startsWith(SCHEME)) return specifier;
    if (!/^\.\.?\//.test(specifier) || !base.startsWith(SCHEME)) {
      throw new Error(
        `the import of ${quoted(specifier)} is not allowed in the sandbox: only ./ and ../ inside the extension's own folder, and "${LIBRARY}"`,
      );
    }
    const wanted = path.posix.join(path.posix.dirname(base.slice(SCHEME.length)), specifier);
    if (wanted === '..' || wanted.startsWith('../') || path.posix.isAbsolute(wanted)) {
      throw new Error(`the import of ${quoted(specifier)} is not allowed: it is outside the extension's own folder`);
    }
    // What TypeScript's authors write: `./part.js` for part.ts.
    for (const candidate of [...SUFFIXES.map((suffix) => wanted + suffix), wanted.replace(/\.m?js$/, '.ts')]) {
      if (Object.hasOwn(this.#options.files, candidate)) return SCHEME + candidate;
    }
    return SCHEME + this.#behindLink(wanted, specifier);
  }

  /** The JavaScript behind a canonical name. */
  load(name: string): string {
    if (name === LIBRARY) return GUEST_LIBRARY;
    const file = name.slice(SCHEME.length);
    const known = this.#sources.get(file);
    if (known !== undefined) return known;
    const expected = Object.hasOwn(this.#options.files, file) ? this.#options.files[file] : undefined;
    if (!name.startsWith(SCHEME) || expected === undefined) throw new Error(`cannot find ${quoted(file)}`);
    const source = this.#read(file, expected);
    const script = file.endsWith('.ts') ? this.#options.strip(source, file) : source;
    this.#sources.set(file, script);
    return script;
  }

  /** A link inside the folder may name another file of it. */
  #behindLink(wanted: string, specifier: string): string {
    const { root, files } = this.#options;
    const link = lstatSync(path.join(root, wanted), { throwIfNoEntry: false });
    if (!link) throw new Error(`cannot find ${quoted(specifier)} in the extension's own folder`);
    const real = path
      .relative(root, realpathSync(path.join(root, wanted)))
      .split(path.sep)
      .join('/');
    if (Object.hasOwn(files, real)) return real;
    throw new Error(
      link.isSymbolicLink()
        ? `the import of ${quoted(specifier)} is not allowed: it is a symlink out of the extension's own folder`
        : `the import of ${quoted(specifier)} is not allowed: only .ts, .js and .mjs files that were there when the extension was loaded`,
    );
  }

  #read(file: string, expected: string): string {
    const location = path.join(this.#options.root, file);
    // Both checks: the path may have become a link, and the bytes may have changed since the operator looked at them.
    if (realpathSync(location) !== location)
      throw new Error(`${quoted(file)} is a symlink out of the extension's own folder`);
    const bytes = readRegular(location);
    if (createHash('sha256').update(bytes).digest('hex') !== expected) {
      throw new Error(`${quoted(file)} has changed since the extension was loaded; reload it`);
    }
    return bytes.toString('utf8');
  }
}

/** What was a file when it was hashed can be a FIFO now, and that would hold the thread for ever. */
function readRegular(location: string): Buffer {
  const descriptor = openSync(location, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(descriptor).isFile()) throw new Error(`${quoted(path.basename(location))} is no regular file`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function quoted(specifier: string): string {
  return JSON.stringify(specifier.slice(0, 200));
}
