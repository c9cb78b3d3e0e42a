/** What JSON text can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object. Keys are data: an own `__proto__` key is possible, so never copy one with `Object.assign` or a literal. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** True for a non-null object that is no array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets an own data property, `__proto__` included (plain assignment would change the prototype instead). */
export function setOwn(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}
