import { type JsonValue, setOwn } from './json.ts';

/** How much of a value may be copied. Bytes are those of its JSON text, counted while copying, so that a bomb ends early. */
export interface CopyBounds {
  readonly maxDepth: number;
  readonly maxBytes: number;
}

export type CopyResult =
  | { readonly ok: true; readonly value: JsonValue; readonly bytes: number }
  | { readonly ok: false; readonly reason: string };

class CopyStop extends Error {}

/**
 * Copies a value to plain JSON, as `JSON.stringify` would see it: own enumerable keys only (an own `__proto__` survives as
 * data), functions, symbols and `undefined` left out, dates and other `toJSON` values by their `toJSON`.
 * A cycle, a BigInt, a getter or a proxy that throws, too much depth or too many bytes is a reason, never an exception.
 */
export function copyJson(value: unknown, bounds: CopyBounds): CopyResult {
  const state = { bytes: 0, maxBytes: bounds.maxBytes, maxDepth: bounds.maxDepth };
  try {
    const copied = copy(value, state, 0, '');
    return copied === undefined
      ? { ok: false, reason: 'it is no JSON value' }
      : { ok: true, value: copied, bytes: state.bytes };
  } catch (error) {
    return { ok: false, reason: error instanceof CopyStop ? error.message : 'it cannot be read' };
  }
}

interface CopyState {
  bytes: number;
  readonly maxBytes: number;
  readonly maxDepth: number;
}

function spend(state: CopyState, bytes: number): void {
  state.bytes += bytes;
  if (state.bytes > state.maxBytes) throw new CopyStop(`it is larger than ${state.maxBytes} bytes`);
}

function copy(value: unknown, state: CopyState, depth: number, key: string): JsonValue | undefined {
  switch (typeof value) {
    case 'string':
      spend(state, utf8Length(value) + 2);
      return value;
    case 'number':
      spend(state, 8);
      return Number.isFinite(value) ? value : null;
    case 'boolean':
      spend(state, 5);
      return value;
    case 'bigint':
      throw new CopyStop('it holds a BigInt');
    case 'object':
      break;
    case 'function':
    case 'symbol':
    case 'undefined':
      return undefined;
  }
  if (value === null) {
    spend(state, 4);
    return null;
  }
  // A cycle is caught here as well: it never ends, so it is deeper than any bound.
  if (depth >= state.maxDepth) throw new CopyStop(`it is nested deeper than ${state.maxDepth} levels`);
  if (hasToJson(value)) return copy(value.toJSON(key), state, depth + 1, key);
  return Array.isArray(value) ? copyArray(value, state, depth) : copyObject(value, state, depth);
}

function hasToJson(value: object): value is { toJSON(key: string): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

function copyArray(value: readonly unknown[], state: CopyState, depth: number): JsonValue {
  spend(state, 2);
  const length = value.length;
  // An array is paid for before it is walked: a sparse one of millions costs nothing to make.
  if (length * 2 > state.maxBytes - state.bytes) throw new CopyStop(`it is larger than ${state.maxBytes} bytes`);
  const target: JsonValue[] = [];
  for (let i = 0; i < length; i++) {
    target.push(copy(value[i], state, depth + 1, String(i)) ?? null);
    spend(state, 1);
  }
  return target;
}

function copyObject(value: object, state: CopyState, depth: number): JsonValue {
  spend(state, 2);
  const target = {};
  for (const key of Object.keys(value)) {
    spend(state, utf8Length(key) + 4);
    const copied = copy((value as Record<string, unknown>)[key], state, depth + 1, key);
    if (copied !== undefined) setOwn(target, key, copied);
  }
  return target;
}

/** Bytes of a text in UTF-8, without encoding it. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 2;
      i++;
    } else bytes += 2;
  }
  return bytes;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
