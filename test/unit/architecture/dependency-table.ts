/** The table of docs/dependencies.md: the one list of who may import which library. */
import { readFileSync } from 'node:fs';

const DOC = new URL('../../../docs/dependencies.md', import.meta.url);

export interface DependencyRow {
  readonly name: string;
  readonly version: string;
  /** Folders below src/; empty for what only tests and tools use. */
  readonly rooms: readonly string[];
  /** True for a development dependency; one with rooms is an optional peer. */
  readonly development: boolean;
  readonly reason: string;
}

/** In the order of the page. */
export const dependencyTable: readonly DependencyRow[] = readFileSync(DOC, 'utf8')
  .split('\n')
  .filter((line) => /^\| *`/.test(line))
  .map((line) => {
    const [, name = '', version = '', used = '', reason = ''] = line.split('|').map((cell) => cell.trim());
    const rooms = [...used.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
    return {
      name: name.replaceAll('`', ''),
      version,
      rooms,
      development: used === 'dev' || used.startsWith('dev,'),
      reason,
    };
  });
