import type { ServerConfig } from '../../../shared/mcp-options.ts';
import type { Catalog, CatalogTool } from './catalog.ts';
import { exposedNames } from './tool-names.ts';

/** What a configuration leaves of a catalogue. */
export interface OfferedTools {
  /** In the server's order, under the names of this configuration. */
  readonly tools: readonly CatalogTool[];
  /** How many tools the filters keep back. */
  readonly hidden: number;
  /** Patterns of `include` and `exclude` that fit no tool: most likely a mistake. */
  readonly idlePatterns: readonly string[];
}

/**
 * Applies a server's filters and prefix to its catalogue. Filters look at the server's own names, and before suffixes: what is
 * kept back takes no name away.
 */
export function offeredTools(
  catalog: Catalog,
  { tools: filters, toolPrefix }: Pick<ServerConfig, 'tools' | 'toolPrefix'>,
): OfferedTools {
  const fits = (name: string, patterns: readonly string[]) => patterns.some((pattern) => matchesGlob(name, pattern));
  const kept = catalog.tools.filter(({ mcpName }) => fits(mcpName, filters.include) && !fits(mcpName, filters.exclude));
  const names = exposedNames(
    toolPrefix,
    kept.map(({ mcpName }) => mcpName),
  );
  return {
    tools: kept.map((tool, i) => ({ ...tool, exposedName: names[i] ?? tool.exposedName })),
    hidden: catalog.tools.length - kept.length,
    idlePatterns: [...filters.include, ...filters.exclude].filter(
      (pattern) => pattern !== '*' && !catalog.tools.some(({ mcpName }) => matchesGlob(mcpName, pattern)),
    ),
  };
}

/** `*` is any text, `?` one character; everything else is itself. Never slower than length × length. */
function matchesGlob(name: string, pattern: string): boolean {
  let at = 0;
  let next = 0;
  /** Where to go on when the last `*` has to take one character more. */
  let star: { readonly pattern: number; name: number } | undefined;
  while (at < name.length) {
    const wanted = pattern[next];
    if (wanted === '*') {
      star = { pattern: next + 1, name: at };
      next += 1;
    } else if (wanted === '?' || (wanted !== undefined && wanted === name[at])) {
      at += 1;
      next += 1;
    } else if (star) {
      star.name += 1;
      at = star.name;
      next = star.pattern;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(next));
}
