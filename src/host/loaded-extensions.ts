import path from 'node:path';
import { ExtensionHostError, messageOf } from '../shared/errors.ts';
import type { Tier } from '../shared/sandbox.ts';
import type { Failure } from '../shared/tool.ts';
import { type DropInWatch, watchDropIns } from './drop-in-watch.ts';
import type { ExtensionSource, ExtensionSources } from './extension-sources.ts';
import type { HostLog } from './host-log.ts';
import type { ExtensionThread, ResolvedExtension } from './thread/extension-thread.ts';

export interface LoadedExtensionsOptions {
  readonly sources: ExtensionSources;
  readonly log: HostLog;
  readonly createThread: (extension: ResolvedExtension) => ExtensionThread;
  /** @throws HOST_CLOSED */
  readonly checkOpen: () => void;
  /** A drop-in whose files or grants changed. */
  readonly reload: (thread: ExtensionThread) => Promise<void>;
}

/** The extensions of a host by id: what was named, what lies in its folders, and the thread of each. */
export class LoadedExtensions {
  readonly #options: LoadedExtensionsOptions;
  readonly #threads = new Map<string, ExtensionThread>();
  readonly #origins = new WeakMap<ExtensionThread, ExtensionSource>();
  readonly #unresolved: (Failure & { readonly tier: Tier })[] = [];
  #watch: DropInWatch | undefined;
  #rescanning: Promise<void> = Promise.resolve();

  constructor(options: LoadedExtensionsOptions) {
    this.#options = options;
  }

  /** In load order. */
  get threads(): readonly ExtensionThread[] {
    return [...this.#threads.values()];
  }

  get ids(): readonly string[] {
    return [...this.#threads.keys()];
  }

  /** Why an extension that has no thread is not there. */
  get unresolved(): readonly (Failure & { readonly tier: Tier })[] {
    return this.#unresolved;
  }

  /** Starts every source there is. Gives a failure for each that cannot be loaded; the others run. */
  startAll(): Promise<readonly Failure[]> {
    const started = this.#startAll();
    // A change meanwhile is looked at when everything is there.
    this.#rescanning = started.then(
      () => {},
      () => {},
    );
    return started;
  }

  async #startAll(): Promise<readonly Failure[]> {
    const failures: Failure[] = [];
    const starting: Promise<void>[] = [];
    for (const source of this.#options.sources.list()) {
      try {
        const thread = await this.add(source);
        const failed = (error: unknown): void => void failures.push(failureOf(thread.extension.id, error));
        starting.push(thread.acquire().then(() => {}, failed));
      } catch (error) {
        failures.push(this.#leaveOut(source, error));
      }
    }
    await Promise.all(starting);
    return failures;
  }

  /** Makes the thread of a source; it is started by whoever needs it. @throws EXTENSION_LOAD_FAILED, HOST_CLOSED */
  async add(source: ExtensionSource): Promise<ExtensionThread> {
    const extension = await this.#options.sources.resolve(source, new Set(this.#threads.keys()));
    this.#options.checkOpen();
    const thread = this.#options.createThread(extension);
    this.#threads.set(extension.id, thread);
    this.#origins.set(thread, source);
    return thread;
  }

  /** By id, path or URL. */
  find(idOrPath: string): ExtensionThread | undefined {
    const resolved = idOrPath.startsWith('file:') ? idOrPath : path.resolve(idOrPath);
    return (
      this.#threads.get(idOrPath) ??
      this.threads.find(({ extension }) => extension.path === resolved || extension.url === resolved)
    );
  }

  /** The extension as its files and grants are now; its id is what it is known by, and stays. */
  async resolveAnew(thread: ExtensionThread): Promise<ResolvedExtension | undefined> {
    const source = this.#origins.get(thread);
    const fresh = source && (await this.#options.sources.resolve(source, new Set()));
    return fresh && { ...fresh, id: thread.extension.id };
  }

  /** Loads a drop-in that came later, or could not be loaded before. @throws INVALID_ARGUMENT, EXTENSION_LOAD_FAILED */
  async loadDropIn(idOrPath: string): Promise<void> {
    const source = this.#options.sources.findDropIn(idOrPath);
    if (!source) {
      const known = this.ids.join(', ') || 'none';
      throw new ExtensionHostError('INVALID_ARGUMENT', `no extension ${idOrPath} is loaded; there are: ${known}`);
    }
    const thread = await this.add(source);
    const at = this.#unresolved.findIndex(({ extension }) => extension === source.entry.path);
    if (at >= 0) this.#unresolved.splice(at, 1);
    await thread.acquire();
  }

  /** Follows the folders of drop-ins: new ones are loaded, changed ones reloaded. Resolves when no change can be missed. */
  async watch(): Promise<void> {
    this.#watch ??= watchDropIns(this.#options.sources.folders, () => {
      this.#rescanning = this.#rescanning.then(() => this.#rescan());
    });
    await this.#watch.ready;
  }

  endWatch(): void {
    this.#watch?.end();
    this.#watch = undefined;
  }

  /** One that went runs until the host ends. */
  async #rescan(): Promise<void> {
    for (const source of this.#options.sources.list()) {
      if (!source.isDropIn || !this.#watch) continue;
      const { path: location } = source.entry;
      try {
        const thread = this.find(location);
        if (!thread) await this.loadDropIn(location);
        else if (differs(thread.extension, await this.#options.sources.resolve(source, new Set()))) {
          await this.#options.reload(thread);
        }
      } catch (error) {
        const text = `the changed extension at ${location} could not be loaded: ${messageOf(error)}`;
        this.#options.log.write('error', text);
      }
    }
  }

  #leaveOut({ entry, isDropIn }: ExtensionSource, error: unknown): Failure {
    const failure = failureOf(entry.path, error);
    this.#unresolved.push({ ...failure, tier: isDropIn ? 'sandboxed' : (entry.tier ?? 'trusted') });
    this.#options.log.write('error', failure.message, { extension: failure.extension });
    return failure;
  }
}

/** Whether an extension would run another way now: other files, other grants. Its id is none of it. */
function differs({ id: _id, ...now }: ResolvedExtension, { id: _other, ...then }: ResolvedExtension): boolean {
  return JSON.stringify(now) !== JSON.stringify(then);
}

function failureOf(extension: string, error: unknown): Failure {
  const code = error instanceof ExtensionHostError ? error.code : 'EXTENSION_LOAD_FAILED';
  return { extension, code, message: messageOf(error) };
}
