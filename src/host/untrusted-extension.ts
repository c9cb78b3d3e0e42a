import { existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ExtensionHostError } from '../shared/errors.ts';
import type { JsonObject } from '../shared/json.ts';
import type { Limits } from '../shared/limits.ts';
import type { Permissions, SandboxLimits } from '../shared/sandbox.ts';
import { entryOfFolder, freeId, toPath } from './extension-directory.ts';
import { type ExtensionManifest, NO_MANIFEST, readManifest } from './extension-manifest.ts';
import type { ExtensionEntry } from './options.ts';
import { hashContent } from './policy/content-hash.ts';
import { type Ceiling, effectivePermissions, grantFor } from './policy/grants.ts';
import type { ResolvedExtension } from './thread/extension-thread.ts';
import { MCP_EXTENSION } from './thread/worker-entry.ts';

/** What decides about an extension that nobody vouched for. */
export interface UntrustedPolicy {
  /** `<agentDir>/settings.json` as it is now. */
  readonly settings: JsonObject;
  readonly ceiling: Ceiling;
  readonly limits: Limits;
}

/** An extension as it lies there, before anybody decided about it. */
export interface UntrustedContent {
  readonly location: string;
  readonly url: string;
  readonly id: string;
  readonly manifest: ExtensionManifest;
  /** Real folder. */
  readonly root: string;
  /** Relative to the root, with `/`. */
  readonly entry: string;
  readonly hash: string;
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Looks at a drop-in: its manifest, its entry and its content hash. A single file is a folder of its own: it can import
 * nothing beside it.
 * @throws EXTENSION_LOAD_FAILED with the reason
 */
export async function readUntrusted(given: string): Promise<UntrustedContent> {
  const location = toPath(given);
  const stats = statSync(location, { throwIfNoEntry: false });
  if (!stats) throw failed(location, 'there is no such file or folder');
  const real = realpathSync(location);
  const manifest = stats.isDirectory() ? (readManifest(real) ?? NO_MANIFEST) : NO_MANIFEST;
  const file = stats.isDirectory() ? entryOf(real, manifest) : real;
  const url = pathToFileURL(file).href;
  const isOwn = url === MCP_EXTENSION.href;
  const root = stats.isDirectory() ? real : path.dirname(real);
  const entry = path.relative(root, file).split(path.sep).join('/');
  const { hash, files } = await hashContent(root, stats.isDirectory() || isOwn ? undefined : entry);
  if (!Object.hasOwn(files, entry))
    throw failed(location, `its entry ${entry} is no .ts, .js or .mjs file of its folder`);
  const name = stats.isDirectory() ? path.basename(location) : path.basename(location, path.extname(location));
  return { location, url, id: manifest.id ?? (isOwn ? 'mcp' : name), manifest, root, entry, hash, files };
}

/** Decides how a drop-in runs: what it requested and was granted for exactly this content, under the host's ceiling. */
export async function resolveUntrusted(
  given: ExtensionEntry,
  taken: ReadonlySet<string>,
  policy: UntrustedPolicy,
): Promise<ResolvedExtension> {
  const content = await readUntrusted(given.path);
  const { location, url, manifest, root, entry, files, hash, id } = content;
  const grant = grantFor(policy.settings, id, hash);
  const isTrusted = manifestAllowsTrust(content) && grant?.tier === 'trusted' && given.tier !== 'sandboxed';
  const base = { id: freeId(id, taken), path: location, url, options: given.options ?? {} };
  const granted = withNamedVariables(
    effectivePermissions(manifest.permissions, grant, policy.ceiling),
    given.env ?? [],
  );
  const env = granted.env?.names ?? [];
  if (isTrusted) return { ...base, env, tier: 'trusted', requested: manifest.permissions };
  return {
    ...base,
    env,
    tier: 'sandboxed',
    requested: manifest.permissions,
    sandbox: {
      root,
      entry,
      files,
      permissions: granted,
      limits: limitsOf(manifest.limits, policy.limits),
      allowPrivateNetwork: policy.ceiling.allowPrivateNetwork ?? policy.settings['allowPrivateNetwork'] === true,
      storageName: `${encodeURIComponent(id)}.json`,
    },
  };
}

/** The operator's grant decides; what is no manifest's wish can be granted as well, like the MCP extension itself. */
function manifestAllowsTrust({ manifest, url }: UntrustedContent): boolean {
  return manifest.tier === 'trusted' || manifest === NO_MANIFEST || url === MCP_EXTENSION.href;
}

/** Variables that the operator named in the entry are granted by that. */
function withNamedVariables(permissions: Permissions, names: readonly string[]): Permissions {
  if (names.length === 0) return permissions;
  return { ...permissions, env: { names: [...new Set([...(permissions.env?.names ?? []), ...names])] } };
}

/** A manifest can ask for less than the host's limits, never for more. */
function limitsOf(wanted: Partial<SandboxLimits>, limits: Limits): SandboxLimits {
  const { sandboxMemoryMb, sandboxCallMs, sandboxCpuMs, sandboxResultBytes } = limits;
  const least = (own: number | undefined, ceiling: number): number => Math.min(own ?? ceiling, ceiling);
  return {
    memoryMb: least(wanted.memoryMb, sandboxMemoryMb),
    callMs: least(wanted.callMs, sandboxCallMs),
    cpuMs: least(wanted.cpuMs, sandboxCpuMs),
    resultBytes: least(wanted.resultBytes, sandboxResultBytes),
  };
}

function entryOf(folder: string, { main }: ExtensionManifest): string {
  const file = main === undefined ? entryOfFolder(folder) : path.resolve(folder, main);
  if (!existsSync(file)) throw failed(folder, `its manifest names ${main ?? 'an entry'}, which is missing`);
  const real = realpathSync(file);
  if (real.startsWith(folder + path.sep)) return real;
  throw failed(folder, `its entry ${main ?? ''} lies outside of its own folder`);
}

function failed(what: string, why: string): ExtensionHostError {
  return new ExtensionHostError('EXTENSION_LOAD_FAILED', `cannot load the extension at ${what}: ${why}`);
}
