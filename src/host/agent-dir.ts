import os from 'node:os';
import path from 'node:path';

/** Where settings and caches live: what is given, else `CALDERA_AGENT_DIR`, else `~/.caldera/agent`. Absolute. */
export function agentDirOf(given: string | undefined, env: Readonly<Record<string, string | undefined>>): string {
  return path.resolve(given ?? env['CALDERA_AGENT_DIR'] ?? path.join(os.homedir(), '.caldera', 'agent'));
}
