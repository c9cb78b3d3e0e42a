import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/extension-api.ts';

const ATTEMPTS = 4;
const RETRY_MS = 150;

/** A fresh folder to run one discovery in, so that a server which writes into its cwd writes into no workspace. */
export function createDiscoveryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'caldera-discovery-'));
}

/**
 * Removes the folder with all that is in it, folders without write permission included. Call it when the server's processes
 * are gone. A folder that stays is logged once; it never throws.
 */
export async function removeDiscoveryFolder(folder: string, logger: Logger): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await rm(folder, { recursive: true, force: true });
    } catch (error) {
      if (attempt === ATTEMPTS) {
        return logger.warn({ folder }, `the temporary folder of a discovery could not be removed: ${messageOf(error)}`);
      }
      await makeWritable(folder);
      // Something of the server's may still be at it: what it writes makes the folder not empty.
      await delay(RETRY_MS);
    }
  }
}

async function makeWritable(folder: string): Promise<void> {
  try {
    await chmod(folder, 0o700);
    const entries = await readdir(folder, { withFileTypes: true });
    for (const entry of entries) if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
  } catch {
    // The removal that follows says what is in the way.
  }
}
