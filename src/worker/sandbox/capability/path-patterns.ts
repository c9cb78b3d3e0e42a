import path from 'node:path';

export interface PatternRoots {
  readonly extension: string;
  readonly workspace: string;
}

/**
 * True when a real path is within one of the patterns. `${extension}` and `${workspace}` are real folders; a pattern without
 * a star is that file, or that folder with everything below it; `*` is a part of a name, `**` any depth.
 */
export function isGranted(real: string, patterns: readonly string[], roots: PatternRoots): boolean {
  return patterns.some((pattern) => {
    const absolute = expand(pattern, roots);
    if (absolute === undefined) return false;
    if (!absolute.includes('*'))
      return real === absolute || real.startsWith(absolute.endsWith('/') ? absolute : `${absolute}/`);
    return matches(segments(absolute), segments(real));
  });
}

/** `undefined` for what is not absolute, or climbs with `..`. */
function expand(pattern: string, roots: PatternRoots): string | undefined {
  const found = /^\$\{(extension|workspace)\}(?:\/(.*))?$/s.exec(pattern);
  if (found) {
    const root = found[1] === 'extension' ? roots.extension : roots.workspace;
    const rest = found[2] ?? '';
    // A star in the name of the folder itself is a letter like others.
    if (root.includes('*') || segments(rest).includes('..')) return undefined;
    return rest === '' ? root : path.posix.join(root, rest);
  }
  return path.posix.isAbsolute(pattern) && !segments(pattern).includes('..')
    ? path.posix.normalize(pattern)
    : undefined;
}

function segments(location: string): readonly string[] {
  return location.split('/').filter((segment) => segment !== '');
}

function matches(pattern: readonly string[], real: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return real.length === 0;
  if (first === '**') {
    for (let from = 0; from <= real.length; from++) if (matches(rest, real.slice(from))) return true;
    return false;
  }
  const [name, ...below] = real;
  return name !== undefined && matchesSegment(first, name) && matches(rest, below);
}

function matchesSegment(pattern: string, name: string): boolean {
  const escaped = pattern.split(/\*+/).map((part) => part.replace(/[.+?^${}()|[\]\\]/g, (sign) => `\\${sign}`));
  return new RegExp(`^${escaped.join('[^/]*')}$`, 's').test(name);
}
