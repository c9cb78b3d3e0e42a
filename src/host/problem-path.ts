/**
 * The path at the start of a problem's text (`servers["a b"].args[1]: must be …`) as its keys; empty when there is none.
 * The other half of `pathOf` in shared/option-reader.
 */
export function pathInProblem(problem: string): (string | number)[] {
  const path: (string | number)[] = [];
  const step = /\.?([A-Za-z_$][\w$-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;
  for (let match = step.exec(problem); match; match = step.exec(problem)) {
    const [, name, index, quoted] = match;
    if (quoted !== undefined) path.push(String(JSON.parse(quoted)));
    else path.push(index === undefined ? (name ?? '') : Number(index));
    if (problem[step.lastIndex] === ':') return path;
  }
  return [];
}
