import { ExtensionHostError } from '../../shared/errors.ts';
import type { ExtensionApi, ExtensionContext } from '../../shared/extension-api.ts';
import { isRecord, type JsonObject } from '../../shared/json.ts';
import { matchesName, type PermissionKey, type Permissions, type SandboxBoot } from '../../shared/sandbox.ts';
import { SandboxFiles } from './capability/files.ts';
import { type NetRequest, SandboxNet } from './capability/net.ts';
import { SandboxStorage } from './capability/storage.ts';
import { fitResult } from './result-fit.ts';
import type { UsageCounter } from './usage.ts';

/** One answer of a granted MCP tool: images of 10 MiB would be the end of a guest. */
const MCP_BYTES = 1024 * 1024;

/** Calls a tool of an MCP server in the session that asks; the host decides once more. */
export type ToolCaller = (request: {
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
}) => Promise<unknown>;

/** What all sessions of an extension share. */
export interface SharedCapabilities {
  readonly permissions: Permissions;
  readonly net: SandboxNet | undefined;
  readonly storage: SandboxStorage | undefined;
}

export function sharedCapabilities({ permissions, allowPrivateNetwork, storageFile }: SandboxBoot): SharedCapabilities {
  const { net, storage } = permissions;
  return {
    permissions,
    net: net ? new SandboxNet(net, allowPrivateNetwork) : undefined,
    storage: storage ? new SandboxStorage(storageFile, storage.maxBytes) : undefined,
  };
}

export interface CapabilityOptions {
  readonly shared: SharedCapabilities;
  readonly root: string;
  readonly context: ExtensionContext;
  readonly env: ExtensionApi['env'];
  readonly callTool: ToolCaller;
  readonly usage: UsageCounter;
}

type Handler = (payload: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<unknown>;

/**
 * What a guest may ask for and is answered later: the closed table behind `fetch`, `fs`, `storage`, `mcp` and `env`. Each
 * entry names its permission; without that it is refused, and counted, before anything of it is looked at.
 */
export class Capabilities {
  readonly #options: CapabilityOptions;
  readonly #files: SandboxFiles;
  readonly #handlers: ReadonlyMap<string, readonly [PermissionKey, Handler]>;

  /** `workspace` is a real path. */
  constructor(options: CapabilityOptions, workspace: string) {
    this.#options = options;
    const { shared, root, env, callTool } = options;
    const { permissions, net, storage } = shared;
    const roots = { extension: root, workspace };
    this.#files = new SandboxFiles({
      read: permissions['fs.read']?.paths ?? [],
      write: permissions['fs.write']?.paths ?? [],
      roots,
    });
    this.#handlers = new Map<string, readonly [PermissionKey, Handler]>([
      ['fetch', ['net', async (payload, signal) => net?.fetch(payload as unknown as NetRequest, signal)]],
      ['env.get', ['env', async ({ name }) => env.get(this.#grantedName(name))]],
      ['fs.read', ['fs.read', async ({ path }) => this.#files.read(stringOf(path, 'path'))]],
      ['fs.list', ['fs.read', async ({ path }) => this.#files.list(stringOf(path, 'path'))]],
      [
        'fs.write',
        ['fs.write', async ({ path, text }) => this.#files.write(stringOf(path, 'path'), stringOf(text, 'text'))],
      ],
      ['storage.get', ['storage', async ({ key }) => storage?.get(key)]],
      ['storage.keys', ['storage', async () => storage?.keys()]],
      ['storage.set', ['storage', async ({ key, value }) => storage?.set(key, value)]],
      ['storage.delete', ['storage', async ({ key }) => storage?.delete(key)]],
      ['mcp.call', ['mcp', async (payload) => fitResult(await callTool(this.#grantedTool(payload)), MCP_BYTES)]],
    ]);
  }

  /** `undefined` when there is no such capability. @throws PERMISSION_DENIED, counted; or what the capability throws */
  answer(op: string, payload: unknown, signal: AbortSignal): Promise<unknown> | undefined {
    const found = this.#handlers.get(op);
    return found ? this.#answer(found, payload, signal) : undefined;
  }

  async #answer(
    [key, handle]: readonly [PermissionKey, Handler],
    payload: unknown,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { shared, usage } = this.#options;
    try {
      if (shared.permissions[key] === undefined) {
        throw new ExtensionHostError('PERMISSION_DENIED', `this extension was not granted the permission ${key}`);
      }
      const answer = await handle(isRecord(payload) ? payload : {}, signal);
      usage.used(key);
      return answer;
    } catch (error) {
      if (error instanceof ExtensionHostError && error.code === 'PERMISSION_DENIED') usage.denied(key);
      throw error;
    }
  }

  #grantedName(name: unknown): string {
    const wanted = stringOf(name, 'name');
    if (this.#options.shared.permissions.env?.names.includes(wanted)) return wanted;
    throw new ExtensionHostError('PERMISSION_DENIED', 'this extension was not granted that variable');
  }

  #grantedTool({ server, tool, arguments: args }: Readonly<Record<string, unknown>>): {
    server: string;
    tool: string;
    arguments: JsonObject;
  } {
    const wanted = { server: stringOf(server, 'server'), tool: stringOf(tool, 'tool') };
    const grant = this.#options.shared.permissions.mcp;
    if (!grant?.servers.includes(wanted.server) || !grant.tools.some((pattern) => matchesName(pattern, wanted.tool))) {
      throw new ExtensionHostError('PERMISSION_DENIED', `the tool ${wanted.tool} of ${wanted.server} is not granted`);
    }
    if (!isRecord(args)) throw new ExtensionHostError('INVALID_ARGUMENT', 'the arguments of a tool must be an object');
    return { ...wanted, arguments: args as JsonObject };
  }
}

function stringOf(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw new ExtensionHostError(
    'INVALID_ARGUMENT',
    `the ${name} must be a string, not ${value === null ? 'null' : typeof value}`,
  );
}
