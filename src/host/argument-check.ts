import { isRecord, type JsonObject } from '../shared/json.ts';

const checks: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => typeof value === 'number' && Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: (value) => isRecord(value),
};

/**
 * The light check before a call is sent: top-level `required` and primitive types. Nothing is coerced or filled in; the rest
 * of the schema is the tool's business. Gives what is wrong, or `undefined`.
 */
export function checkArguments(parameters: JsonObject, args: JsonObject): string | undefined {
  const problems: string[] = [];
  const { required, properties } = parameters;
  if (Array.isArray(required)) {
    for (const name of required as readonly unknown[]) {
      if (typeof name === 'string' && !Object.hasOwn(args, name)) problems.push(`"${name}" is required`);
    }
  }
  if (isRecord(properties)) {
    for (const [name, value] of Object.entries(args)) {
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const problem = isRecord(schema) ? typeProblem(name, schema['type'], value) : undefined;
      if (problem) problems.push(problem);
    }
  }
  return problems.length === 0 ? undefined : problems.join('; ');
}

function typeProblem(name: string, type: unknown, value: unknown): string | undefined {
  const allowed = (Array.isArray(type) ? (type as readonly unknown[]) : [type]).filter(
    (one) => typeof one === 'string',
  );
  const known = allowed.map((one) => (Object.hasOwn(checks, one) ? checks[one] : undefined));
  // A type this check does not know is the tool's to judge.
  if (known.length === 0 || known.includes(undefined)) return undefined;
  if (known.some((check) => check?.(value))) return undefined;
  return `"${name}" must be ${allowed.join(' or ')}, not ${nameOf(value)}`;
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
