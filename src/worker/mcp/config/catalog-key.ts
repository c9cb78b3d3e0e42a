import type { ServerConfig } from '../../../shared/mcp-options.ts';
import { digestOf, sortedEntries } from './fingerprint.ts';

/**
 * Names a server's catalogue: equal for every session and workspace, because nothing is expanded; a rotated secret changes
 * nothing. The prefix belongs to it, since a catalogue holds exposed names.
 */
export function catalogKey(server: ServerConfig): string {
  const { name, command, args, env, cwd, toolPrefix } = server;
  return `catalog/${name}/${digestOf([command, args, sortedEntries(env), cwd, toolPrefix])}`;
}
