import { isRecord } from './json.ts';
import { nearestName } from './nearest-name.ts';
import { printable } from './printable.ts';

/** Timers of Node end at once above 2^31 - 1 ms. */
const MAX_SECONDS = 2_000_000;

/**
 * Reads one object of a configuration, key by key. Whatever is wrong is noted with its path and what to write instead, and
 * the default is given back, so that one pass finds every problem. Values are never shown: they may be secrets.
 */
export class OptionReader {
  readonly #source: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #problems: string[];

  constructor(source: Readonly<Record<string, unknown>>, path: string, problems: string[]) {
    this.#source = source;
    this.#path = path;
    this.#problems = problems;
  }

  /** An absent key and an explicit `undefined` are the same. */
  has(key: string): boolean {
    return this.value(key) !== undefined;
  }

  value(key: string): unknown {
    return Object.hasOwn(this.#source, key) ? this.#source[key] : undefined;
  }

  problem(key: string, text: string): void {
    this.#problems.push(`${pathOf(this.#path, key)}: ${text}`);
  }

  /** Notes every key that is not known. `later` are keys that a coming version will know. */
  refuseUnknown(known: readonly string[], later: readonly string[] = []): void {
    for (const key of Object.keys(this.#source)) {
      if (known.includes(key) || !this.has(key)) continue;
      if (later.includes(key)) this.problem(key, 'not supported yet in this version; leave it out');
      else this.problem(key, `unknown key; did you mean "${nearestName(key, known) ?? ''}"?`);
    }
  }

  boolean(key: string, fallback: boolean): boolean {
    const value = this.value(key);
    if (value === undefined || typeof value === 'boolean') return value ?? fallback;
    this.problem(key, `must be true or false, not ${kindOf(value)}`);
    return fallback;
  }

  text(key: string, fallback: string): string {
    const value = this.value(key);
    if (value === undefined || typeof value === 'string') return value ?? fallback;
    this.problem(key, `must be a string, not ${kindOf(value)}`);
    return fallback;
  }

  /** A non-blank string; absent and null are null. */
  textOrNull(key: string): string | null {
    const value = this.value(key);
    if (value === undefined || value === null) return null;
    if (typeof value === 'string' && value.trim() !== '') return value;
    this.problem(
      key,
      typeof value === 'string'
        ? 'must not be empty; leave it out, or give null'
        : `must be a string or null, not ${kindOf(value)}`,
    );
    return null;
  }

  /** A whole number from 1 on. */
  count(key: string, fallback: number): number {
    const value = this.value(key);
    if (value === undefined) return fallback;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
    this.problem(
      key,
      `must be a whole number from 1 on, not ${typeof value === 'number' ? String(value) : kindOf(value)}`,
    );
    return fallback;
  }

  oneOf<T extends string>(key: string, choices: readonly T[], fallback: T): T {
    const value = this.value(key);
    if (value === undefined) return fallback;
    const chosen = choices.find((choice) => choice === value);
    if (chosen === undefined) this.problem(key, `must be one of ${choices.map((choice) => `"${choice}"`).join(', ')}`);
    return chosen ?? fallback;
  }

  texts(key: string): readonly string[] {
    const value = this.value(key);
    if (value === undefined) return [];
    if (!Array.isArray(value)) {
      this.problem(key, `must be a list of strings, not ${kindOf(value)}`);
      return [];
    }
    const entries: readonly unknown[] = value;
    entries.forEach((entry, i) => {
      if (typeof entry !== 'string') this.problem(`${key}[${i}]`, `must be a string, not ${kindOf(entry)}`);
    });
    return entries.filter((entry) => typeof entry === 'string');
  }

  /** Seconds as milliseconds. `zero` says what 0 means where it is allowed. */
  milliseconds(key: string, fallbackSeconds: number, zero?: string): number {
    const value = this.has(key) ? this.value(key) : fallbackSeconds;
    const wanted = zero === undefined ? 'a positive number of seconds' : `a number of seconds, or 0 for ${zero}`;
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0 || (value === 0 && zero === undefined)) {
      this.problem(key, `must be ${wanted}, not ${typeof value === 'number' ? String(value) : kindOf(value)}`);
    } else if (value > MAX_SECONDS) {
      this.problem(key, `must be at most ${MAX_SECONDS} seconds, not ${value}`);
    } else {
      return value === 0 ? 0 : Math.max(1, Math.round(value * 1000));
    }
    return fallbackSeconds * 1000;
  }

  /** An object, or undefined; anything else is noted. */
  record(key: string, example: string): Readonly<Record<string, unknown>> | undefined {
    const value = this.value(key);
    if (value === undefined || isRecord(value)) return value;
    this.problem(key, `must be an object such as ${example}, not ${kindOf(value)}`);
    return undefined;
  }
}

/** `servers.github.args[1]`, `servers["a b"].command`. */
export function pathOf(parent: string, key: string): string {
  if (!/^[A-Za-z_$][\w$-]*(\[\d+\])*$/.test(key)) return `${parent}[${JSON.stringify(printable(key))}]`;
  return parent === '' ? key : `${parent}.${key}`;
}

/** What kind of value it is, in words for people. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
