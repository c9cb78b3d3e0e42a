import { toWireError } from '../shared/errors.ts';
import type { JsonValue } from '../shared/json.ts';
import { copyJson } from '../shared/json-copy.ts';
import type { HostClient } from './host-client.ts';

const VALUE_BOUNDS = { maxDepth: 64, maxBytes: 16 * 1024 * 1024 };

/** Claims of this thread that are under way: a hundred sessions that open at once ask the host one time. */
const claims = new WeakMap<HostClient, Map<string, Promise<JsonValue>>>();

export interface ClaimOptions {
  readonly failureTtlMs: number;
  readonly persist: boolean;
}

/** The thread's side of `api.cache.once`: the host says who produces; the others wait there. */
export function claimOnce(
  host: HostClient,
  key: string,
  produce: () => Promise<JsonValue>,
  options: ClaimOptions,
): Promise<JsonValue> {
  const mine = claims.get(host) ?? new Map<string, Promise<JsonValue>>();
  claims.set(host, mine);
  const running = mine.get(key);
  if (running) return running;
  const claim = claimFromHost(host, key, produce, options).finally(() => mine.delete(key));
  mine.set(key, claim);
  return claim;
}

async function claimFromHost(
  host: HostClient,
  key: string,
  produce: () => Promise<JsonValue>,
  options: ClaimOptions,
): Promise<JsonValue> {
  const answer = await host.request('cache.claim', { key, persist: options.persist });
  if (answer.state === 'produce') return produceFor(host, key, produce, answer.ticket, options);
  // An old value serves; the new one is for whoever asks later, and a failure changes nothing.
  if (answer.ticket !== undefined) produceFor(host, key, produce, answer.ticket, options).catch(() => {});
  return answer.value as JsonValue;
}

async function produceFor(
  host: HostClient,
  key: string,
  produce: () => Promise<JsonValue>,
  ticket: number,
  { failureTtlMs }: ClaimOptions,
): Promise<JsonValue> {
  try {
    const copied = copyJson(await produce(), VALUE_BOUNDS);
    if (!copied.ok) throw new Error(`the value for ${key} cannot be cached: ${copied.reason}`);
    await host.request('cache.settle', { ticket, outcome: { ok: true, value: copied.value } });
    return copied.value;
  } catch (error) {
    const wire = toWireError(error, 'SERVER_START_FAILED');
    await host.request('cache.settle', { ticket, outcome: { ok: false, error: wire, failureTtlMs } });
    throw error;
  }
}
