import * as z from 'zod';

/** How far an extension is trusted. docs/security.md says what each one promises. */
export type Tier = 'trusted' | 'sandboxed';

/** What a sandboxed extension may do beyond computing. An absent key is a permission it does not have. */
export interface Permissions {
  /** `hosts`: `api.example`, `*.example`, each with an optional `:port`; without one every port. `methods`: upper case. */
  readonly net?: { readonly hosts: readonly string[]; readonly methods: readonly string[] };
  readonly env?: { readonly names: readonly string[] };
  /** Absolute paths or ones that start with `${extension}` or `${workspace}`; `*` is a part of a name, `**` any depth. */
  readonly 'fs.read'?: { readonly paths: readonly string[] };
  readonly 'fs.write'?: { readonly paths: readonly string[] };
  /** `tools`: the server's own names; `*` is any part of one. */
  readonly mcp?: { readonly servers: readonly string[]; readonly tools: readonly string[] };
  readonly storage?: { readonly maxBytes: number };
}

export type PermissionKey = keyof Permissions;

export const PERMISSION_KEYS = [
  'net',
  'env',
  'fs.read',
  'fs.write',
  'mcp',
  'storage',
] as const satisfies PermissionKey[];

/** What a sandboxed extension is held to. */
export interface SandboxLimits {
  readonly memoryMb: number;
  /** Wall time of one call, command, event or activation. */
  readonly callMs: number;
  /** The same in CPU time. */
  readonly cpuMs: number;
  /** One result as JSON. */
  readonly resultBytes: number;
}

/** What the thread of a sandboxed extension is told. Resolved on the host; nothing in it comes from the extension unchecked. */
export interface SandboxBoot {
  /** The extension's real folder. */
  readonly root: string;
  /** The entry, relative to it, with `/`. */
  readonly entry: string;
  /** Every file that may be served, relative to the root, with the SHA-256 (hex) of its bytes. */
  readonly files: Readonly<Record<string, string>>;
  readonly permissions: Permissions;
  readonly limits: SandboxLimits;
  /** The operator's ceiling: true lets `net` reach loopback and private addresses. */
  readonly allowPrivateNetwork: boolean;
  /** Where `storage` keeps its values. */
  readonly storageFile: string;
  /** One Int32: the linear memory of this thread's VMs in KiB, written by the thread. */
  readonly memoryKb: SharedArrayBuffer;
}

/** What is counted: a permission, or a member of the API that this tier does not have. */
const USE_KEYS = [...PERMISSION_KEYS, 'api'] as const satisfies readonly (PermissionKey | 'api')[];
export type UseKey = PermissionKey | 'api';

/** How often each permission was used and refused, since the thread began. */
export interface PermissionUse {
  readonly used: Readonly<Partial<Record<UseKey, number>>>;
  readonly denied: Readonly<Partial<Record<UseKey, number>>>;
}

const Counts = z.partialRecord(z.enum(USE_KEYS), z.number().nonnegative());

export const PermissionUseSchema: z.ZodType<PermissionUse> = z.object({ used: Counts, denied: Counts });

/** Adds what two counts say. */
export function addUse(a: PermissionUse, b: PermissionUse): PermissionUse {
  const sum = (one: PermissionUse['used'], other: PermissionUse['used']): PermissionUse['used'] =>
    Object.fromEntries(
      USE_KEYS.map((key) => [key, (one[key] ?? 0) + (other[key] ?? 0)] as const).filter(([, count]) => count > 0),
    );
  return { used: sum(a.used, b.used), denied: sum(a.denied, b.denied) };
}

export const NO_USE: PermissionUse = { used: {}, denied: {} };

/** True when `name` fits a pattern in which `*` stands for any part; case counts. */
export function matchesName(pattern: string, name: string): boolean {
  const parts = pattern.split('*');
  const [first = ''] = parts;
  if (parts.length === 1) return name === pattern;
  const last = parts[parts.length - 1] ?? '';
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > name.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}
