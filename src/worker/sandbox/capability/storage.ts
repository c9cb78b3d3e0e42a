import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ExtensionHostError } from '../../../shared/errors.ts';
import type { JsonValue } from '../../../shared/json.ts';
import { copyJson, utf8Length } from '../../../shared/json-copy.ts';

const KEY_CHARACTERS = 256;

/** `storage` of a sandboxed extension: values by key in one file, shared by its sessions. */
export class SandboxStorage {
  readonly #file: string;
  readonly #maxBytes: number;
  #values: Promise<Map<string, JsonValue>> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(file: string, maxBytes: number) {
    this.#file = file;
    this.#maxBytes = maxBytes;
  }

  async get(key: unknown): Promise<JsonValue | undefined> {
    return (await this.#load()).get(checkKey(key));
  }

  async keys(): Promise<readonly string[]> {
    return [...(await this.#load()).keys()].sort();
  }

  /** Resolves when it is in the file. @throws INVALID_ARGUMENT when everything together is over the granted size */
  async set(key: unknown, value: unknown): Promise<void> {
    const name = checkKey(key);
    const copied = copyJson(value, { maxDepth: 32, maxBytes: this.#maxBytes });
    if (!copied.ok)
      throw new ExtensionHostError('INVALID_ARGUMENT', `the value of ${name} cannot be stored: ${copied.reason}`);
    const values = await this.#load();
    const before = values.get(name);
    values.set(name, copied.value);
    if (utf8Length(textOf(values)) > this.#maxBytes) {
      if (before === undefined) values.delete(name);
      else values.set(name, before);
      throw new ExtensionHostError(
        'INVALID_ARGUMENT',
        `the storage of this extension is full: ${this.#maxBytes} bytes were granted`,
      );
    }
    await this.#write(values);
  }

  async delete(key: unknown): Promise<void> {
    const values = await this.#load();
    if (values.delete(checkKey(key))) await this.#write(values);
  }

  #load(): Promise<Map<string, JsonValue>> {
    this.#values ??= readValues(this.#file);
    return this.#values;
  }

  /** One after another, each whole: a reader never sees half a file. */
  #write(values: Map<string, JsonValue>): Promise<void> {
    this.#writing = this.#writing
      .catch(() => {})
      .then(async () => {
        await mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 });
        const fresh = `${this.#file}.${process.pid}.new`;
        await writeFile(fresh, textOf(values), { mode: 0o600 });
        await rename(fresh, this.#file);
      });
    return this.#writing.catch(() => {
      throw new ExtensionHostError('INVALID_ARGUMENT', 'the storage of this extension cannot be written');
    });
  }
}

function checkKey(key: unknown): string {
  if (typeof key === 'string' && key !== '' && key.length <= KEY_CHARACTERS) return key;
  throw new ExtensionHostError('INVALID_ARGUMENT', `a key of storage is a string of 1 to ${KEY_CHARACTERS} characters`);
}

function textOf(values: ReadonlyMap<string, JsonValue>): string {
  return JSON.stringify([...values]);
}

/** A file that is missing or broken is an empty storage. */
async function readValues(file: string): Promise<Map<string, JsonValue>> {
  try {
    const entries: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (!Array.isArray(entries)) return new Map();
    return new Map(
      entries.filter((entry): entry is [string, JsonValue] => Array.isArray(entry) && typeof entry[0] === 'string'),
    );
  } catch {
    return new Map();
  }
}
