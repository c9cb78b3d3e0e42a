import { realpathSync } from 'node:fs';
import path from 'node:path';
import { ExtensionHostError } from '../shared/errors.ts';
import type { JsonObject } from '../shared/json.ts';
import type { Limits } from '../shared/limits.ts';
import { findDropIns } from './drop-ins.ts';
import { resolveExtension, toPath } from './extension-directory.ts';
import type { ExtensionEntry } from './options.ts';
import type { Ceiling } from './policy/grants.ts';
import type { ResolvedExtension } from './thread/extension-thread.ts';
import { resolveUntrusted } from './untrusted-extension.ts';

export interface ExtensionSourcesOptions {
  readonly named: readonly (string | ExtensionEntry)[];
  /** Folders of drop-ins; `<agentDir>/extensions` comes after them by itself. */
  readonly folders: readonly string[];
  readonly agentDir: string;
  readonly ceiling: Ceiling;
  readonly limits: Limits;
  /** The operator's settings as they are now. */
  readonly settings: () => JsonObject;
}

/** An extension as it was found, so that it can be resolved again. */
export interface ExtensionSource {
  readonly entry: ExtensionEntry;
  /** Nobody vouched for it: it lay in a folder. */
  readonly isDropIn: boolean;
}

/** Where the extensions of a host come from: what the operator named, then what lies in the folders of drop-ins. */
export class ExtensionSources {
  readonly folders: readonly string[];
  readonly #options: ExtensionSourcesOptions;

  constructor(options: ExtensionSourcesOptions) {
    this.#options = options;
    this.folders = [
      ...new Set([...options.folders, path.join(options.agentDir, 'extensions')].map((folder) => path.resolve(folder))),
    ];
  }

  /** In load order. What the operator named is no drop-in, wherever it lies. */
  list(): readonly ExtensionSource[] {
    const named = this.#options.named.map(asEntry);
    const known = new Set(named.flatMap(({ path: given }) => realPathOf(given)));
    return [
      ...named.map((entry) => ({ entry, isDropIn: false })),
      ...findDropIns(this.folders, known).map((found) => ({ entry: { path: found.path }, isDropIn: true })),
    ];
  }

  /** @throws EXTENSION_LOAD_FAILED */
  async resolve({ entry, isDropIn }: ExtensionSource, taken: ReadonlySet<string>): Promise<ResolvedExtension> {
    if (!isDropIn && entry.tier !== 'sandboxed') return resolveExtension(entry, taken);
    const { settings, ceiling, limits } = this.#options;
    return resolveUntrusted(entry, taken, { settings: settings(), ceiling, limits });
  }

  /** A drop-in by its path or the name it lies under. */
  findDropIn(idOrPath: string): ExtensionSource | undefined {
    const wanted = path.resolve(idOrPath);
    const found = findDropIns(this.folders).find(
      ({ path: location }) => location === wanted || path.basename(location, path.extname(location)) === idOrPath,
    );
    return found && { entry: { path: found.path }, isDropIn: true };
  }
}

export function asEntry(given: string | ExtensionEntry): ExtensionEntry {
  if (typeof given === 'string') return { path: given };
  // A program without types can write anything, and what is no tier must not become the trusted one.
  const tier: unknown = given.tier;
  if (tier !== undefined && tier !== 'trusted' && tier !== 'sandboxed') {
    throw new ExtensionHostError(
      'CONFIG_INVALID',
      `extension ${given.path}: its tier must be "trusted" or "sandboxed"`,
    );
  }
  return given;
}

/** Nothing for what is missing: that is said when it is resolved. */
function realPathOf(given: unknown): readonly string[] {
  try {
    return typeof given === 'string' ? [realpathSync(toPath(given))] : [];
  } catch {
    return [];
  }
}
