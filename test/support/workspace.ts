/** Temp folders for tests. Importing this file has them removed when the test file is done. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];

afterAll(() => {
  // A process that is still going down may write into its folder while it is being emptied.
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

/**
 * A new empty folder whose name holds what breaks careless code: a space, and `$&` and `$1`, which `String.replace` takes
 * for parts of the match. The path is absolute and real (no symlink in it).
 */
export function makeWorkspace(label = 'chat'): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `caldera ${label} $& $1 `)));
  made.push(folder);
  return folder;
}
