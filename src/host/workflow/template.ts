import { isRecord, type JsonObject, type JsonValue, setOwn } from '../../shared/json.ts';

/** `$${` is a literal `${`; anything else in braces is a path. */
const TEMPLATE = /\$(\$\{)|\$\{([^}]*)\}/g;
const PATH = /^(?:input|nodes)(?:\.[A-Za-z0-9_$-]+|\[\d+\]|\["(?:[^"\\]|\\.)*"\])*$/;
const STEP = /\.([A-Za-z0-9_$-]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]/g;

/** What a template may look at. */
export interface TemplateScope {
  /** What the run was started with. */
  readonly input: JsonObject;
  /** By node id: the last outcome and output of each node that has run. */
  readonly nodes: Readonly<Record<string, unknown>>;
}

/** Something a template names that is not there. */
export class MissingValueError extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`\${${path}} is not there`);
    this.name = 'MissingValueError';
    this.path = path;
  }
}

/** The paths that occur in a value's strings, however deep: `nodes.snap1.output.content`. */
export function templatePaths(value: JsonValue): readonly string[] {
  if (typeof value === 'string') {
    return [...value.matchAll(TEMPLATE)].flatMap(([, literal, path]) => (literal === undefined ? [path ?? ''] : []));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((inner) => templatePaths(inner as JsonValue));
}

/** `[]` for a path that cannot be read; else its steps, `input` or `nodes` first. */
export function pathSteps(path: string): readonly string[] {
  if (!PATH.test(path)) return [];
  const [root = ''] = /^[a-z]+/.exec(path) ?? [];
  const steps = [...path.matchAll(STEP)].map(([, name, index, quoted]) =>
    quoted === undefined ? (name ?? index ?? '') : String(JSON.parse(`"${quoted}"`)),
  );
  return [root, ...steps];
}

/**
 * Fills the templates in a value. A string that is one template becomes what it names, of whatever type; one inside a text
 * becomes text (JSON, unless it is a string).
 * @throws MissingValueError
 */
export function fillTemplates(value: JsonValue, scope: TemplateScope): JsonValue {
  if (typeof value === 'string') return fillText(value, scope);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((inner) => fillTemplates(inner, scope));
  const filled = {};
  for (const [key, inner] of Object.entries(value as JsonObject)) setOwn(filled, key, fillTemplates(inner, scope));
  return filled;
}

function fillText(text: string, scope: TemplateScope): JsonValue {
  const [whole, , path] = [...text.matchAll(TEMPLATE)][0] ?? [];
  if (whole === text && path !== undefined) return look(path, scope);
  return text.replace(TEMPLATE, (_whole, literal: string | undefined, inner: string | undefined) => {
    if (literal !== undefined) return literal;
    const value = look(inner ?? '', scope);
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

function look(path: string, scope: TemplateScope): JsonValue {
  const steps = pathSteps(path);
  let value: unknown = steps.length === 0 ? undefined : scope;
  for (const step of steps) {
    // Own keys only: `constructor` is data or it is nothing.
    const readable = Array.isArray(value) || isRecord(value);
    value = readable && Object.hasOwn(value as object, step) ? (value as Record<string, unknown>)[step] : undefined;
  }
  if (value === undefined) throw new MissingValueError(path);
  return value as JsonValue;
}
