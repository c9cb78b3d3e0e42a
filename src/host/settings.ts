import { readFileSync, type Stats, unwatchFile, watchFile } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../shared/errors.ts';
import { isRecord, type JsonObject } from '../shared/json.ts';
import { kindOf } from '../shared/option-reader.ts';
import { JsoncDocument } from './jsonc-document.ts';

/**
 * How often the file is looked at. Polling finds what events miss: a file that is replaced by renaming another one over it, a
 * folder that is made later, network file systems. One `stat` costs about 20 µs, off the main thread.
 */
const POLL_MS = 500;
const MAX_BYTES = 4 * 1024 * 1024;

export interface SettingsEvents {
  /** The file says something else than before. */
  readonly onChange: (settings: JsonObject) => void;
  /** It cannot be used; the settings stay as they were. */
  readonly onProblem: (text: string) => void;
}

/**
 * `<agentDir>/settings.json`, JSON with comments: read by the host alone and watched while it is open. A missing file is `{}`;
 * one that cannot be read or is no object is a problem, never an exception, and changes nothing.
 */
export class SettingsFile {
  readonly #file: string;
  readonly #events: SettingsEvents;
  readonly #listener = (now: Stats, before: Stats): void => {
    if (now.mtimeMs !== before.mtimeMs || now.size !== before.size || now.ino !== before.ino) this.#read();
  };
  #text: string | undefined;
  #settings: JsonObject = {};
  #problem: string | undefined;

  constructor(agentDir: string, events: SettingsEvents) {
    this.#file = path.join(agentDir, 'settings.json');
    this.#events = events;
  }

  get current(): JsonObject {
    return this.#settings;
  }

  /** Reads the file and watches it from now on. */
  open(): void {
    // First the watch: a change that comes between the two is then seen.
    watchFile(this.#file, { interval: POLL_MS, persistent: false }, this.#listener);
    this.#read();
  }

  close(): void {
    unwatchFile(this.#file, this.#listener);
  }

  #read(): void {
    let settings: JsonObject;
    try {
      const text = textOf(this.#file);
      if (text === this.#text && this.#problem === undefined) return;
      settings = text === undefined ? {} : parse(text);
      this.#text = text;
    } catch (error) {
      const problem = `${this.#file} cannot be used, the settings stay as they were: ${messageOf(error)}`;
      if (problem !== this.#problem) this.#events.onProblem(problem);
      this.#problem = problem;
      return;
    }
    this.#problem = undefined;
    if (JSON.stringify(settings) === JSON.stringify(this.#settings)) return;
    this.#settings = Object.freeze(settings);
    this.#events.onChange(settings);
  }
}

function textOf(file: string): string | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    if (isRecord(error) && (error['code'] === 'ENOENT' || error['code'] === 'ENOTDIR')) return undefined;
    throw error;
  }
  if (bytes.length > MAX_BYTES) throw new Error(`it has ${bytes.length} bytes, more than ${MAX_BYTES}`);
  return bytes.toString('utf8');
}

function parse(text: string): JsonObject {
  // A file that is being written can be empty for a moment.
  if (text.trim() === '') return {};
  const { value, problems } = new JsoncDocument(text);
  const [first] = problems;
  if (value === undefined || first) throw new Error(first ? `line ${first.line}: ${first.text}` : 'it is empty');
  if (!isRecord(value)) throw new Error(`it must hold an object, not ${kindOf(value)}`);
  return value as JsonObject;
}
