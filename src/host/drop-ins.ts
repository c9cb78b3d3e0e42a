import { existsSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';

const FILE = /(?<!\.d)\.(ts|js|mjs)$/;
const FOLDER_FILES = ['extension.json', 'package.json', 'index.ts', 'index.js', 'index.mjs'];

export interface DropIn {
  /** As it lies in the folder; for people. */
  readonly path: string;
  readonly realPath: string;
}

/**
 * What lies in folders of drop-ins: `.ts`, `.js` and `.mjs` files, and folders with a manifest or an index. One level deep,
 * sorted by name, folder after folder; what is there under two names counts once. A folder that is missing is empty.
 */
export function findDropIns(folders: readonly string[], known: ReadonlySet<string> = new Set()): readonly DropIn[] {
  const seen = new Set(known);
  const found: DropIn[] = [];
  for (const folder of folders) {
    for (const name of namesIn(folder)) {
      const location = path.join(folder, name);
      const real = isDropIn(location, name) ? realPathOf(location) : undefined;
      if (real === undefined || seen.has(real)) continue;
      seen.add(real);
      found.push({ path: location, realPath: real });
    }
  }
  return found;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !name.startsWith('.'))
      .sort();
  } catch {
    return [];
  }
}

function isDropIn(location: string, name: string): boolean {
  const stats = statsOf(location);
  if (!stats) return false;
  // A FIFO or a socket with such a name is one, too: whoever put it there is told why it does not run.
  if (!stats.isDirectory()) return FILE.test(name);
  return FOLDER_FILES.some((file) => existsSync(path.join(location, file)));
}

/** Nothing for a link that leads nowhere or in a circle: one of those must not stand in the way of the others. */
function statsOf(location: string): Stats | undefined {
  try {
    return statSync(location);
  } catch {
    return undefined;
  }
}

function realPathOf(location: string): string | undefined {
  try {
    return realpathSync(location);
  } catch {
    return undefined;
  }
}
