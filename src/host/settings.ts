import { readFileSync, type Stats, stat, statSync } from 'node:fs';
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
  #timer: NodeJS.Timeout | undefined;
  /** Of the file as it was before it was read: what changes it later is another one. */
  #mark = '';
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
    this.#read();
    this.#timer ??= setInterval(() => this.#look(), POLL_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    stat(this.#file, (_error, stats?: Stats) => {
      if (this.#timer !== undefined && markOf(stats) !== this.#mark) this.#read();
    });
  }

  #read(): void {
    let settings: JsonObject;
    try {
      this.#mark = markOf(statSync(this.#file, { throwIfNoEntry: false }));
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

function markOf(stats: Stats | undefined): string {
  return stats === undefined ? '' : [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(' ');
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
