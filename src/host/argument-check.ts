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
 * of the schema is the tool's business. What has a `default` may be missing although it is `required`: schemas made from a
 * server's parsed types say both (`scale` of Playwright's browser_take_screenshot). Gives what is wrong, or `undefined`.
 */
export function checkArguments(parameters: JsonObject, args: JsonObject): string | undefined {
  const problems: string[] = [];
  const { required } = parameters;
  const properties = isRecord(parameters['properties']) ? parameters['properties'] : {};
  if (Array.isArray(required)) {
    for (const name of required as readonly unknown[]) {
      if (typeof name !== 'string' || Object.hasOwn(args, name)) continue;
      const schema = schemaOf(properties, name);
      if (!schema || !Object.hasOwn(schema, 'default')) problems.push(`"${name}" is required`);
    }
  }
  for (const name of Object.keys(args)) {
    const schema = schemaOf(properties, name);
    const problem = schema && typeProblem(name, schema['type'], args[name]);
    if (problem) problems.push(problem);
  }
  return problems.length === 0 ? undefined : problems.join('; ');
}

function schemaOf(
  properties: Readonly<Record<string, unknown>>,
  name: string,
): Readonly<Record<string, unknown>> | undefined {
  const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isRecord(schema) ? schema : undefined;
}

function typeProblem(name: string, type: unknown, value: unknown): string | undefined {
  // The common case, without a list: this runs for every argument of every call.
  if (typeof type === 'string' && Object.hasOwn(checks, type) && checks[type]?.(value)) return undefined;
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
