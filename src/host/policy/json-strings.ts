import { setOwn } from '../../shared/json.ts';

/** What is nested deeper is replaced. Far over any `limits.jsonDepth`, far under the stack. */
const MAX_DEPTH = 1000;

/** Stands for what is no JSON: nothing can be said about the text inside it. */
const NOT_JSON = '[not plain data: omitted]';
const TOO_DEEP = '[nested too deeply: omitted]';

/** The strings of a value, keys included, in one order that {@link withStrings} repeats. */
export interface StringsOfValue {
  readonly strings: readonly string[];
  /** True when something in it has no JSON form, or is nested too deeply to look at. */
  readonly odd: boolean;
}

/** Collects every string once; what is reached twice, in a circle too, is looked at once. */
export function stringsOf(value: unknown): StringsOfValue {
  const strings: string[] = [];
  const seen = new Set<object>();
  let odd = false;
  const visit = (part: unknown, depth: number): void => {
    if (typeof part === 'string') strings.push(part);
    if (typeof part !== 'object' || part === null || seen.has(part)) return;
    if (depth > MAX_DEPTH || !isPlain(part)) {
      odd = true;
      return;
    }
    seen.add(part);
    if (Array.isArray(part)) for (const item of part as unknown[]) visit(item, depth + 1);
    else {
      for (const [key, item] of Object.entries(part)) {
        strings.push(key);
        visit(item, depth + 1);
      }
    }
  };
  visit(value, 0);
  return { strings, odd };
}

/** A copy of the value that has these strings in the places of those that {@link stringsOf} collected. */
export function withStrings(value: unknown, strings: readonly string[]): unknown {
  const copies = new Map<object, object>();
  let next = 0;
  const copy = (part: unknown, depth: number): unknown => {
    if (typeof part === 'string') return strings[next++];
    if (typeof part !== 'object' || part === null) return part;
    const known = copies.get(part);
    if (known) return known;
    if (!isPlain(part)) return NOT_JSON;
    if (depth > MAX_DEPTH) return TOO_DEEP;
    if (Array.isArray(part)) {
      const list: unknown[] = [];
      copies.set(part, list);
      for (const item of part as unknown[]) list.push(copy(item, depth + 1));
      return list;
    }
    const record = {};
    copies.set(part, record);
    for (const item of Object.values(part) as unknown[]) {
      const key = strings[next++] ?? '';
      setOwn(record, freeKey(record, key), copy(item, depth + 1));
    }
    return record;
  };
  return copy(value, 0);
}

/** Two keys can become the same one; neither value is to be lost. */
function freeKey(record: object, key: string): string {
  let free = key;
  for (let n = 2; Object.hasOwn(record, free); n++) free = `${key}_${n}`;
  return free;
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
