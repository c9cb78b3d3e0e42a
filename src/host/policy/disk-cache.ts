import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../shared/errors.ts';
import { isRecord } from '../../shared/json.ts';

/** What is larger is not kept: writing it would hold up the main thread for longer than discovering it anew is worth. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Nobody asks for the entries of servers that have gone. */
const UNUSED_MS = 30 * 24 * 60 * 60 * 1000;

export interface DiskCacheOptions {
  /** Made when something is written. */
  readonly folder: string;
  /** Entries of another version are not read. */
  readonly version: string;
  /** True when secrets would have to be taken out of a value: then it is not written. */
  readonly holdsSecret: (value: unknown) => boolean;
  /** Told once. */
  readonly onProblem: (text: string) => void;
}

export interface KeptValue {
  readonly value: unknown;
  /** ms since 1970. */
  readonly savedAt: number;
}

/**
 * Values of `api.cache.once` that outlive the host: one file each, replaced by renaming, so that no reader ever sees half of
 * one. It is a copy to save time: whatever goes wrong with it, nothing else does.
 */
export class DiskCache {
  readonly #options: DiskCacheOptions;
  #changes: Promise<void> = Promise.resolve();
  #toldProblem = false;
  #swept = false;

  constructor(options: DiskCacheOptions) {
    this.#options = options;
  }

  /** `undefined` when there is none that can be used. */
  async read(extension: string, key: string): Promise<KeptValue | undefined> {
    await this.#changes;
    try {
      const entry: unknown = JSON.parse(await readFile(this.#fileOf(extension, key), 'utf8'));
      if (!isRecord(entry) || entry['version'] !== this.#options.version || entry['key'] !== key) return undefined;
      const { value, savedAt } = entry;
      return typeof savedAt === 'number' && value !== undefined ? { value, savedAt } : undefined;
    } catch {
      return undefined;
    }
  }

  write(extension: string, key: string, value: unknown): void {
    this.#change(async () => {
      const { folder, version, holdsSecret } = this.#options;
      const text = JSON.stringify({ version, key, savedAt: Date.now(), value });
      if (text.length > MAX_BYTES || holdsSecret(value)) return;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = this.#fileOf(extension, key);
      const draft = `${file}.${randomUUID()}.tmp`;
      try {
        await writeFile(draft, text, { mode: 0o600 });
        await rename(draft, file);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      await this.#sweep();
    });
  }

  drop(extension: string, key: string): void {
    this.#change(() => rm(this.#fileOf(extension, key), { force: true }));
  }

  /** Resolves when everything so far is on disk. Never rejects. */
  settled(): Promise<void> {
    return this.#changes;
  }

  /** One after another, in the order in which they were asked for. */
  #change(work: () => Promise<void>): void {
    this.#changes = this.#changes.then(work).catch((error: unknown) => {
      if (this.#toldProblem) return;
      this.#toldProblem = true;
      this.#options.onProblem(`the cache in ${this.#options.folder} cannot be written: ${messageOf(error)}`);
    });
  }

  async #sweep(): Promise<void> {
    if (this.#swept) return;
    this.#swept = true;
    const { folder } = this.#options;
    for (const name of await readdir(folder)) {
      if (!/\.(json|tmp)$/.test(name)) continue;
      const file = path.join(folder, name);
      const { mtimeMs } = await stat(file);
      if (Date.now() - mtimeMs > UNUSED_MS) await rm(file, { force: true });
    }
  }

  #fileOf(extension: string, key: string): string {
    const digest = createHash('sha256').update(`${extension}\0${key}`).digest('hex');
    return path.join(this.#options.folder, `${digest}.json`);
  }
}
