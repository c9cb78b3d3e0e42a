import { once } from 'node:events';
import crossSpawn from 'cross-spawn';
import type { PreparedProcess } from '../../../../shared/extension-api.ts';
import { ServerProcess, type ServerProcessOptions } from './server-process.ts';
import { explainSpawnError, findSpawnProblem } from './spawn-error.ts';

/** Why nothing could be spawned; the message is for the operator. */
export class SpawnError extends Error {
  override readonly name = 'SpawnError';
}

/**
 * Spawns a server in a process group of its own, with exactly the prepared environment.
 * @throws SpawnError
 */
export async function spawnServer(prepared: PreparedProcess, options: ServerProcessOptions): Promise<ServerProcess> {
  const problem = await findSpawnProblem(prepared);
  if (problem !== undefined) throw new SpawnError(problem);
  const { command, args, cwd, env } = prepared;
  let child: ReturnType<typeof start>;
  try {
    child = start(command, args, cwd, env);
  } catch (thrown) {
    throw new SpawnError(explainSpawnError(thrown, prepared));
  }
  if (child.pid === undefined) {
    // Its streams may be missing, too: nothing of it is touched.
    const [thrown]: unknown[] = await once(child, 'error');
    throw new SpawnError(explainSpawnError(thrown, prepared));
  }
  return new ServerProcess(child, child.pid, options);
}

function start(command: string, args: readonly string[], cwd: string, env: PreparedProcess['env']) {
  const detached = process.platform !== 'win32';
  return crossSpawn.spawn(command, [...args], { cwd, env, detached, windowsHide: true, stdio: 'pipe' });
}
