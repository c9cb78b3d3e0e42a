import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { setOwn } from '../shared/json.ts';

/** Something wrong in a file, with the line it stands in. */
export interface DocumentProblem {
  readonly line: number;
  readonly text: string;
}

const MOST_SYNTAX_PROBLEMS = 5;

/** A file of JSON with comments and trailing commas, which remembers where each value stands. */
export class JsoncDocument {
  /** `undefined` when the file cannot be read as JSON; `problems` says why. Own `__proto__` keys are data. */
  readonly value: unknown;
  /** What is wrong with the text itself: syntax, and keys that stand twice in one object. */
  readonly problems: readonly DocumentProblem[];
  readonly #text: string;
  readonly #root: Node | undefined;

  constructor(text: string) {
    this.#text = text.startsWith('\uFEFF') ? text.slice(1) : text;
    const errors: ParseError[] = [];
    this.#root = parseTree(this.#text, errors, { allowTrailingComma: true, disallowComments: false });
    const problems = errors.slice(0, MOST_SYNTAX_PROBLEMS).map(({ error, offset }) => ({
      line: this.#lineAt(offset),
      text: `this is no JSON: ${words(printParseErrorCode(error))}`,
    }));
    if (this.#root === undefined && problems.length === 0) problems.push({ line: 1, text: 'the file is empty' });
    const usable = problems.length === 0 ? this.#root : undefined;
    this.value = usable && jsonOf(usable);
    if (usable) this.#collectTwice(usable, problems);
    this.problems = problems;
  }

  /** The line of the value at `path`, or of the nearest one around it that is there. */
  lineOf(path: readonly (string | number)[]): number {
    for (let length = path.length; this.#root && length > 0; length--) {
      const node = findNodeAtLocation(this.#root, path.slice(0, length));
      if (node) return this.#lineAt((node.parent?.type === 'property' ? node.parent : node).offset);
    }
    return this.#lineAt(this.#root?.offset ?? 0);
  }

  #lineAt(offset: number): number {
    let line = 1;
    for (let at = this.#text.indexOf('\n'); at >= 0 && at < offset; at = this.#text.indexOf('\n', at + 1)) line++;
    return line;
  }

  #collectTwice(node: Node, problems: DocumentProblem[]): void {
    const seen = new Set<unknown>();
    for (const child of node.children ?? []) {
      const [key, value] = child.type === 'property' ? (child.children ?? []) : [undefined, child];
      if (key && seen.has(key.value)) {
        problems.push({
          line: this.#lineAt(key.offset),
          text: `the key ${JSON.stringify(key.value)} stands here twice`,
        });
      }
      if (key) seen.add(key.value);
      this.#collectTwice(value, problems);
    }
  }
}

/** `PropertyNameExpected` → `property name expected`. */
function words(code: string): string {
  return code.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
}

/** The library's own conversion assigns keys, which would set a prototype for `__proto__`. */
function jsonOf(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(jsonOf);
  if (node.type !== 'object') return node.value as unknown;
  const object = {};
  for (const { children: [key, value] = [] } of node.children ?? []) {
    if (key && value) setOwn(object, String(key.value), jsonOf(value));
  }
  return object;
}
