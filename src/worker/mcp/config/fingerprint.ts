import { createHash } from 'node:crypto';
import type { ServerConfig } from '../../../shared/mcp-options.ts';

/**
 * What has to be equal for a running process to stay the right one. Prefix and timeouts are not in it: they apply without a
 * restart. Nothing is expanded, so that a rotated secret waits for the next start.
 */
export function leaseFingerprint(server: ServerConfig): string {
  const { command, args, env, cwd, scope } = server;
  return digestOf([command, args, sortedEntries(env), cwd, scope]);
}

/** SHA-256 of the JSON text, in hex. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Entries ordered by name: the order in which they were written means nothing. */
export function sortedEntries(env: ServerConfig['env']): readonly (readonly [string, string | null])[] {
  return Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
}
