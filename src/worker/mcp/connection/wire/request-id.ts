/** A JSON-RPC id. `"7"` is not `7`: a Set or a Map of ids tells them apart. */
export type RequestId = string | number;

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}
