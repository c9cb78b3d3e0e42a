import { printable } from '../../../shared/printable.ts';
import type { Catalog, CatalogTool } from './catalog.ts';

const MAX_NAMES = 20;

/** How a live list differs from the catalogue; by the server's own names. */
export interface CatalogDifference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Another description, schema or hint. */
  readonly changed: readonly string[];
}

/** `undefined` when both offer the same tools, in whatever order. */
export function catalogDifference(catalog: Catalog, live: Catalog): CatalogDifference | undefined {
  const before = byName(catalog);
  const now = byName(live);
  const added = [...now.keys()].filter((name) => !before.has(name));
  const removed = [...before.keys()].filter((name) => !now.has(name));
  const changed = [...now]
    .filter(([name, text]) => before.has(name) && before.get(name) !== text)
    .map(([name]) => name);
  return added.length + removed.length + changed.length === 0 ? undefined : { added, removed, changed };
}

/** One line for the log: `added a, b; removed c`. */
export function differenceText(difference: CatalogDifference): string {
  return Object.entries(difference)
    .filter(([, names]) => names.length > 0)
    .map(([what, names]: [string, readonly string[]]) => `${what} ${namesText(names)}`)
    .join('; ');
}

function namesText(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => printable(name));
  const more = names.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Exposed names are left out: they follow from the others. */
function byName(catalog: Catalog): ReadonlyMap<string, string> {
  const text = ({ description, parameters, outputSchema, annotations }: CatalogTool) =>
    JSON.stringify([description, parameters, outputSchema, annotations]);
  return new Map(catalog.tools.map((tool) => [tool.mcpName, text(tool)]));
}
