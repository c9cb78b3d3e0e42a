/**
 * The name that was probably meant: one that contains what was written or is contained in it, else the one with the fewest
 * edits. Case does not count. `undefined` when there is nothing to choose from.
 */
export function nearestName(written: string, known: readonly string[]): string | undefined {
  // What is far too long is nobody's typing error, and edits cost length × length.
  const wanted = written.slice(0, 64).toLowerCase();
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of known) {
    const distance = distanceBetween(wanted, name.toLowerCase());
    if (best === undefined || distance < best.distance) best = { name, distance };
  }
  return best?.name;
}

function distanceBetween(a: string, b: string): number {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  // A letter that is only missing counts little: `timeout` means `callTimeoutSeconds`, not `toolPrefix`.
  if (short.length >= 3 && long.includes(short)) return (long.length - short.length) / 8;
  return editDistance(a, b);
}

/** Levenshtein, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
