import { createJiti } from 'jiti';
import { ExtensionHostError, messageOf } from '../shared/errors.ts';
import type { ExtensionFactory } from '../shared/extension-api.ts';
import * as extensionApi from '../shared/extension-api.ts';

/** Our own extensions lie beside this file and load natively. */
const OWN_ROOT = new URL('./', import.meta.url).href;

/**
 * Imports an extension's entry and gives its factory. An author's file goes through jiti (`.ts` on Node 20, `.js`, `.mjs`);
 * `caldera/extension` is this very module in it, so that `instanceof ToolExecutionError` holds.
 * @throws EXTENSION_LOAD_FAILED with the file's own message
 */
export async function loadExtension(url: string): Promise<ExtensionFactory> {
  const loaded: unknown = await importEntry(url).catch((error: unknown) => {
    throw new ExtensionHostError('EXTENSION_LOAD_FAILED', `cannot load ${url}: ${messageOf(error)}`, { cause: error });
  });
  const factory = defaultExport(loaded);
  if (typeof factory !== 'function') {
    throw new ExtensionHostError(
      'EXTENSION_LOAD_FAILED',
      `${url} has no factory: its default export must be a function (api) => void, but is ${factory === undefined ? 'missing' : typeof factory}`,
    );
  }
  return factory as ExtensionFactory;
}

async function importEntry(url: string): Promise<unknown> {
  if (url.startsWith(OWN_ROOT)) return import(url);
  const jiti = createJiti(import.meta.url, { fsCache: false, virtualModules: { 'caldera/extension': extensionApi } });
  return jiti.import(url);
}

/** A CommonJS file's default export can be wrapped once more. */
function defaultExport(loaded: unknown): unknown {
  const first = typeof loaded === 'object' && loaded !== null && 'default' in loaded ? loaded.default : loaded;
  if (typeof first === 'object' && first !== null && 'default' in first) return first.default;
  return first;
}
