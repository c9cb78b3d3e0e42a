import { ExtensionHostError } from '../../../shared/errors.ts';
import type { ExtensionApi } from '../../../shared/extension-api.ts';
import type { JsonValue } from '../../../shared/json.ts';
import type { ServerConfig } from '../../../shared/mcp-options.ts';
import { catalogKey } from '../config/catalog-key.ts';
import type { Catalog } from './catalog.ts';
import type { Discoveries } from './discoveries.ts';
import type { DiscoveryServices } from './discovery.ts';

/** A failed discovery is answered from the cache for so long: the next chats do not pay for it again. */
const FAILURE_TTL_MS = 60_000;

/**
 * One server's catalogue, discovered once for the whole host: whoever asks first makes it, the others wait for that one.
 * @throws SERVER_START_FAILED as the discovery said, for a minute
 */
export async function sharedCatalog(
  config: ServerConfig,
  api: ExtensionApi,
  discoveries: Discoveries,
  stillWanted: () => boolean,
): Promise<Catalog> {
  try {
    return await askOnce(config, api, discoveries);
  } catch (error) {
    if (!(error instanceof ExtensionHostError) || error.code !== 'ABORTED' || !stillWanted()) throw error;
    // It went down with the last session of another moment, which says nothing about the server.
    api.cache.drop(catalogKey(config));
    return askOnce(config, api, discoveries);
  }
}

async function askOnce(config: ServerConfig, api: ExtensionApi, discoveries: Discoveries): Promise<Catalog> {
  const services: DiscoveryServices = {
    prepare: (request) => api.processes.prepare(request),
    readEnv: (name) => api.env.get(name),
    track: (note) => api.processes.track(note),
    logger: api.logger,
    limits: api.limits,
  };
  const produce = async (): Promise<JsonValue> => (await discoveries.run(config, services)) as unknown as JsonValue;
  const options = { failureTtlMs: FAILURE_TTL_MS, persist: true };
  return (await api.cache.once(catalogKey(config), produce, options)) as unknown as Catalog;
}
