import { isRecord, type JsonObject } from '../../shared/json.ts';
import { nearestName } from '../../shared/nearest-name.ts';
import type { Failure } from '../../shared/tool.ts';
import type { WorkflowCatalog } from './capability.ts';
import { connectionOfCapability, type Deployment, type DeploymentNode } from './deployment.ts';
import { pathSteps, templatePaths } from './template.ts';

/** What of a deployment a session cannot do, and why, as far as the session knows. */
export function problemsAgainst(
  { nodes, connections }: Deployment,
  catalog: WorkflowCatalog,
  failures: readonly Failure[] = [],
): readonly string[] {
  const byName = new Map(catalog.map((capability) => [capability.name, capability]));
  const offering = new Set(catalog.map(({ connectionId }) => connectionId));
  const silent = connections.flatMap((connection, i) =>
    offering.has(connection) ? [] : [`connections[${i}]: ${silence(connection, offering, failures)}`],
  );
  const unfit = nodes.flatMap((node, i) => {
    const capability = byName.get(node.capability);
    if (capability) return inputProblems(node, capability.inputSchema).map((text) => `nodes[${i}].input: ${text}`);
    const connection = connectionOfCapability(node.capability, connections);
    if (connection !== undefined && !offering.has(connection)) return [];
    const offered = catalog.filter(({ connectionId }) => connectionId === connection).map(({ name }) => name);
    const nearest = nearestName(node.capability, offered) ?? '';
    return [`nodes[${i}].capability: there is no ${node.capability}; did you mean "${nearest}"?`];
  });
  return [...silent, ...unfit];
}

/** What the run's own input lacks: each name once. */
export function missingInput({ nodes }: Deployment, input: JsonObject): readonly string[] {
  const names = nodes.flatMap((node) =>
    templatePaths(node.input).flatMap((path) => {
      const [root, name] = pathSteps(path);
      return root === 'input' && name !== undefined && !Object.hasOwn(input, name) ? [name] : [];
    }),
  );
  return [...new Set(names)];
}

function silence(connection: string, offering: ReadonlySet<string>, failures: readonly Failure[]): string {
  const failure = failures.find(({ server, extension }) => (server ?? extension) === connection);
  if (failure) return `${connection} offers nothing: ${failure.message}`;
  return `there is no connection ${connection}; there are: ${[...offering].join(', ') || 'none'}`;
}

/** Required keys that are not mapped, and mapped keys that the schema closes out. Types are judged at the call. */
function inputProblems({ input }: DeploymentNode, schema: JsonObject): readonly string[] {
  const { required, properties, additionalProperties } = schema;
  const missing = Array.isArray(required)
    ? (required as readonly unknown[]).filter((key) => typeof key === 'string' && !Object.hasOwn(input, key))
    : [];
  const known = isRecord(properties) ? Object.keys(properties) : [];
  const closed = additionalProperties === false && schema['patternProperties'] === undefined;
  const extra = closed ? Object.keys(input).filter((key) => !known.includes(key)) : [];
  return [
    ...missing.map((key) => `${String(key)} is required and not mapped`),
    ...extra.map((key) => {
      const nearest = nearestName(key, known);
      return `the tool takes no ${key}${nearest === undefined ? '; it takes nothing' : `; did you mean "${nearest}"?`}`;
    }),
  ];
}
