import type { ExtensionContext, ExtensionFactory } from '../shared/extension-api.ts';
import type { JsonObject } from '../shared/json.ts';
import type { ThreadBoot, ThreadNote } from '../shared/protocol.ts';
import { loadExtension } from './extension-loader.ts';

/** What a session is to the extension that is loaded for it. */
export interface Instance {
  readonly context: ExtensionContext;
  /** Asks the host to call a tool of an MCP server in this session. */
  readonly callTool: (request: {
    readonly server: string;
    readonly tool: string;
    readonly arguments: JsonObject;
  }) => Promise<unknown>;
}

export interface LoadedExtension {
  factoryFor(instance: Instance): ExtensionFactory;
}

/** Loads the extension of this thread: into the thread itself when it is trusted, else into the sandbox's engine. */
export async function loadBoot(boot: ThreadBoot, note: (value: ThreadNote) => void): Promise<LoadedExtension> {
  if (!boot.sandbox) {
    const factory = await loadExtension(boot.url);
    return { factoryFor: () => factory };
  }
  // The engine is loaded by the threads that need it only.
  const { createSandbox } = await import('./sandbox/sandbox.ts');
  const sandbox = createSandbox(boot.sandbox, (use) => note({ type: 'permission-use', use }));
  await sandbox.load();
  return sandbox;
}
