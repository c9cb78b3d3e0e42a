import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** Polling finds what events miss: a folder that is made later, a file replaced by renaming, network file systems. */
const POLL_MS = 500;
const DEPTH = 8;
const MOST_FILES = 10_000;

export interface DropInWatch {
  /** Resolves when the folders were looked at once: what changes from then on is told. */
  readonly ready: Promise<void>;
  readonly end: () => void;
}

/** Calls back when something in folders of drop-ins has changed and was quiet for one look. */
export function watchDropIns(folders: readonly string[], changed: () => void): DropInWatch {
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  let told: string | undefined;
  let last: string | undefined;
  const look = async (): Promise<void> => {
    const now = await signatureOf(folders);
    if (ended) return;
    // An editor writes, renames and touches: it is told when two looks see the same.
    if (told === undefined) told = now;
    else if (now === last && now !== told) {
      told = now;
      changed();
    }
    last = now;
    timer = setTimeout(() => void look(), POLL_MS);
    timer.unref();
  };
  return {
    ready: look(),
    end() {
      ended = true;
      clearTimeout(timer);
    },
  };
}

/** Names, sizes and times of everything below. */
async function signatureOf(folders: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const walk = async (folder: string, depth: number): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const { name } of entries) {
      if (name === 'node_modules' || name === '.git' || lines.length >= MOST_FILES) continue;
      const location = path.join(folder, name);
      const stats = await stat(location).catch(() => undefined);
      if (!stats) continue;
      lines.push(`${location}\0${stats.isDirectory() ? '' : `${stats.size}\0${stats.mtimeMs}\0${stats.ino}`}`);
      if (stats.isDirectory() && depth < DEPTH) await walk(location, depth + 1);
    }
  };
  for (const folder of folders) await walk(folder, 0);
  return lines.sort().join('\n');
}
