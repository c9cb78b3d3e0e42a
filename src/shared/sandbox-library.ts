/**
 * What `caldera/extension` has for a sandboxed extension besides the API: each call needs the permission of its name, granted by
 * the operator. In a trusted extension they reject; there Node's own do.
 */
import type { JsonObject, JsonValue } from './json.ts';
import type { Content } from './tool.ts';

/** An answer; its body is at most 1 MiB of text. */
export interface SandboxResponse {
  /** Where it came from, after redirects. */
  readonly url: string;
  readonly status: number;
  /** True for a status of 200 to 299. */
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
  json(): Promise<JsonValue>;
}

export interface SandboxRequest {
  /** Default `GET`. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Values by key, shared by the sessions of the extension and kept over restarts. */
export interface SandboxStorage {
  get(key: string): Promise<JsonValue | undefined>;
  /** @throws when everything together is over the granted `maxBytes` */
  set(key: string, value: JsonValue): Promise<void>;
  delete(key: string): Promise<void>;
  keys(): Promise<readonly string[]>;
}

/** Files of at most 1 MiB; relative paths start in the session's workspace. */
export interface SandboxFiles {
  readFile(path: string): Promise<string>;
  /** Replaces the file; its folder has to exist. */
  writeFile(path: string, text: string): Promise<void>;
  /** Names, sorted; those of folders end with `/`. */
  readdir(path: string): Promise<readonly string[]>;
}

/** Tools of MCP servers, in the session that calls. */
export interface SandboxMcp {
  callTool(
    server: string,
    tool: string,
    args?: JsonObject,
  ): Promise<{
    readonly content: readonly Content[];
    readonly isError: boolean;
    readonly structuredContent?: JsonValue;
  }>;
}

function refuse(what: string): () => Promise<never> {
  const message = `${what} of caldera/extension is for sandboxed extensions; a trusted one uses what Node has`;
  return async () => {
    throw Object.assign(new Error(message), { code: 'PERMISSION_DENIED' });
  };
}

/** Permission `net`. */
export const fetch: (url: string, options?: SandboxRequest) => Promise<SandboxResponse> = refuse('fetch');

/** Permission `storage`. */
export const storage: SandboxStorage = {
  get: refuse('storage'),
  set: refuse('storage'),
  delete: refuse('storage'),
  keys: refuse('storage'),
};

/** Permissions `fs.read` and `fs.write`. */
export const fs: SandboxFiles = { readFile: refuse('fs'), writeFile: refuse('fs'), readdir: refuse('fs') };

/** Permission `mcp`. */
export const mcp: SandboxMcp = { callTool: refuse('mcp') };
