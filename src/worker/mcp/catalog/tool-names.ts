/**
 * Providers take 64; 48 leaves room for what they put in front (`mcp__<host>__`) before a name becomes an opaque alias.
 */
const MAX_NAME_LENGTH = 48;

/** For a tool whose name and prefix are both empty. */
const NAMELESS = 'tool';

/** One name made safe for every provider: what is outside `[A-Za-z0-9_-]` becomes `_`, and 48 characters are kept. */
export function safeName(prefix: string, name: string): string {
  return (prefix + name).replace(/[^A-Za-z0-9_-]/gu, '_').slice(0, MAX_NAME_LENGTH) || NAMELESS;
}

/**
 * The exposed name of each tool of one server, in order: distinct, and the same for the same list. The second tool that would
 * get a name gets `_2` behind it, and so on.
 */
export function exposedNames(prefix: string, names: readonly string[]): string[] {
  const taken = new Set<string>();
  // Where to go on counting: 2,000 tools that share 48 characters would need two million tries without it.
  const nextCount = new Map<string, number>();
  return names.map((name) => {
    const wanted = safeName(prefix, name);
    let exposed = wanted;
    let count = nextCount.get(wanted) ?? 2;
    while (taken.has(exposed)) {
      const suffix = `_${count}`;
      exposed = wanted.slice(0, MAX_NAME_LENGTH - suffix.length) + suffix;
      count += 1;
    }
    nextCount.set(wanted, count);
    taken.add(exposed);
    return exposed;
  });
}
