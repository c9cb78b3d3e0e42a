import { isRecord, type JsonObject } from '../../shared/json.ts';
import { matchesName, PERMISSION_KEYS, type PermissionKey, type Permissions, type Tier } from '../../shared/sandbox.ts';
import { readPermissions } from '../extension-manifest.ts';

/** What the operator granted to an extension, for exactly the content that was looked at. */
export interface Grant {
  readonly hash: string;
  readonly permissions: Permissions;
  readonly tier?: Tier;
}

/** What no grant goes beyond on this host. */
export interface Ceiling {
  /** Permissions that can be granted at all. Default every one. */
  readonly permissions?: readonly PermissionKey[];
  /** Lets `net` reach loopback, private and link-local addresses: for tests and intranets. Default false. */
  readonly allowPrivateNetwork?: boolean;
}

/** The grant for an id in the operator's settings; `undefined` when there is none, when it is malformed, or for other content. */
export function grantFor(settings: JsonObject, id: string, hash: string): Grant | undefined {
  const grants = settings['extensionGrants'];
  const given: unknown = isRecord(grants) && Object.hasOwn(grants, id) ? grants[id] : undefined;
  if (!isRecord(given) || given['hash'] !== hash) return undefined;
  const problems: string[] = [];
  const permissions = readPermissions(
    isRecord(given['permissions']) ? given['permissions'] : {},
    'permissions',
    problems,
  );
  if (problems.length > 0) return undefined;
  return { hash, permissions, ...(given['tier'] === 'trusted' ? { tier: 'trusted' as const } : {}) };
}

/** requested ∩ granted ∩ ceiling. */
export function effectivePermissions(requested: Permissions, grant: Grant | undefined, ceiling: Ceiling): Permissions {
  if (!grant) return {};
  const both = intersect(requested, grant.permissions);
  const allowed = ceiling.permissions ?? PERMISSION_KEYS;
  return Object.fromEntries(Object.entries(both).filter(([key]) => allowed.includes(key as PermissionKey)));
}

function intersect(a: Permissions, b: Permissions): Permissions {
  const net =
    a.net && b.net
      ? { hosts: common(a.net.hosts, b.net.hosts, coversHost), methods: same(a.net.methods, b.net.methods) }
      : undefined;
  const env = a.env && b.env ? { names: same(a.env.names, b.env.names) } : undefined;
  const reading =
    a['fs.read'] && b['fs.read'] ? { paths: common(a['fs.read'].paths, b['fs.read'].paths, coversPath) } : undefined;
  const writing =
    a['fs.write'] && b['fs.write']
      ? { paths: common(a['fs.write'].paths, b['fs.write'].paths, coversPath) }
      : undefined;
  const mcp =
    a.mcp && b.mcp
      ? { servers: same(a.mcp.servers, b.mcp.servers), tools: common(a.mcp.tools, b.mcp.tools, coversTool) }
      : undefined;
  const storage = a.storage && b.storage ? { maxBytes: Math.min(a.storage.maxBytes, b.storage.maxBytes) } : undefined;
  return {
    ...(net && net.hosts.length > 0 && net.methods.length > 0 ? { net } : {}),
    ...(env && env.names.length > 0 ? { env } : {}),
    ...(reading && reading.paths.length > 0 ? { 'fs.read': reading } : {}),
    ...(writing && writing.paths.length > 0 ? { 'fs.write': writing } : {}),
    ...(mcp && mcp.servers.length > 0 && mcp.tools.length > 0 ? { mcp } : {}),
    ...(storage ? { storage } : {}),
  };
}

type Covers = (wide: string, narrow: string) => boolean;

/** The narrower one of each pair in which one entry covers the other. */
function common(a: readonly string[], b: readonly string[], covers: Covers): readonly string[] {
  const narrowed = a.filter((one) => b.some((other) => covers(other, one)));
  return [...new Set([...narrowed, ...b.filter((one) => a.some((other) => covers(other, one)))])];
}

function same(a: readonly string[], b: readonly string[]): readonly string[] {
  return a.filter((one) => b.includes(one));
}

const coversHost: Covers = (wide, narrow) => {
  if (wide === narrow) return true;
  const host = narrow.replace(/:\d+$/, '');
  const port = narrow.slice(host.length);
  const wideHost = wide.replace(/:\d+$/, '');
  const widePort = wide.slice(wideHost.length);
  if (widePort !== '' && widePort !== port) return false;
  return host === wideHost || (wideHost.startsWith('*.') && !host.startsWith('*.') && host.endsWith(wideHost.slice(1)));
};

const coversPath: Covers = (wide, narrow) => {
  if (wide === narrow) return true;
  const folder = wide.endsWith('/**') ? wide.slice(0, -3) : wide;
  return !folder.includes('*') && narrow.startsWith(`${folder}/`) && !narrow.split('/').includes('..');
};

const coversTool: Covers = (wide, narrow) => wide === narrow || (!narrow.includes('*') && matchesName(wide, narrow));
