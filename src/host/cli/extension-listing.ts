import { messageOf } from '../../shared/errors.ts';
import { resolveLimits } from '../../shared/limits.ts';
import { NO_USE, type Permissions, type PermissionUse, type Tier } from '../../shared/sandbox.ts';
import { agentDirOf } from '../agent-dir.ts';
import { type ExtensionSource, ExtensionSources } from '../extension-sources.ts';
import { readOperatorSettings } from '../policy/operator-settings.ts';
import { readPermissionUse } from '../policy/permission-use-file.ts';
import { readUntrusted, type UntrustedContent } from '../untrusted-extension.ts';
import type { HostFlags } from './host-flags.ts';
import { loadConfig } from './load-config.ts';

/** An extension as it lies there, and what was decided about it. Nothing of it has run. */
export interface ListedExtension {
  readonly id: string;
  readonly path: string;
  readonly tier: Tier;
  readonly requested: Permissions;
  readonly granted: Permissions;
  readonly used: PermissionUse['used'];
  readonly denied: PermissionUse['denied'];
  readonly hash?: string;
  /** Why it cannot be loaded. */
  readonly problem?: string;
  readonly content?: UntrustedContent;
  readonly agentDir: string;
}

/** Every extension that the flags and the configuration name, but the MCP extension. */
export async function findExtensions(flags: HostFlags): Promise<readonly ListedExtension[]> {
  const config = loadConfig(flags.config ?? [], process.env);
  const agentDir = agentDirOf(flags.agentDir, process.env);
  const sources = new ExtensionSources({
    named: [...config.extensions, ...(flags.extension ?? [])],
    folders: [...config.extensionDirs, ...(flags.extensionDir ?? [])],
    agentDir,
    ceiling: {},
    limits: resolveLimits(config.limits).limits,
    settings: () => readOperatorSettings(agentDir),
  });
  const uses = await readPermissionUse(agentDir);
  const taken = new Set<string>();
  const found: ListedExtension[] = [];
  for (const source of sources.list()) {
    const listed = await listOne(source, sources, taken, agentDir);
    taken.add(listed.id);
    found.push({ ...listed, ...(Object.hasOwn(uses, listed.id) ? uses[listed.id] : NO_USE) });
  }
  return found;
}

async function listOne(
  source: ExtensionSource,
  sources: ExtensionSources,
  taken: ReadonlySet<string>,
  agentDir: string,
): Promise<Omit<ListedExtension, 'used' | 'denied'> & PermissionUse> {
  const { entry, isDropIn } = source;
  try {
    const { id, path, tier, requested = {}, sandbox } = await sources.resolve(source, taken);
    const content = isDropIn || tier === 'sandboxed' ? await readUntrusted(entry.path) : undefined;
    return {
      ...{ id, path, tier, requested, granted: sandbox?.permissions ?? {}, agentDir, ...NO_USE },
      ...(content ? { hash: content.hash, content } : {}),
    };
  } catch (error) {
    const tier = isDropIn ? 'sandboxed' : 'trusted';
    return {
      id: entry.path,
      path: entry.path,
      tier,
      requested: {},
      granted: {},
      agentDir,
      ...NO_USE,
      problem: messageOf(error),
    };
  }
}
