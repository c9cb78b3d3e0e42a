import { ExtensionHostError } from '../../shared/errors.ts';
import { isRecord, type JsonObject } from '../../shared/json.ts';
import { copyJson } from '../../shared/json-copy.ts';
import { nearestName } from '../../shared/nearest-name.ts';
import { kindOf, OptionReader } from '../../shared/option-reader.ts';
import { pathSteps, templatePaths } from './template.ts';
import { OUTCOMES, type OutcomeName } from './tool-executor.ts';

/** A workflow as JSON: which capability each node calls, with what, and where each outcome leads. */
export interface Deployment {
  /** `[A-Za-z0-9][A-Za-z0-9_.-]*`; the name of its file in the deployments folder. */
  readonly id: string;
  /** The connections its capabilities belong to. */
  readonly connections: readonly string[];
  /** The node a run starts at, and where it goes back to when state is lost: it makes the state the others act on. */
  readonly entry: string;
  readonly nodes: readonly DeploymentNode[];
}

export interface DeploymentNode {
  /** A letter, then letters, digits, `_` and `-`. */
  readonly id: string;
  /** `<connection>.<tool>` */
  readonly capability: string;
  /**
   * What is sent; no other key is. Strings may hold templates: `${input.url}`, `${nodes.snap1.output.content}`. Default `{}`.
   */
  readonly input: JsonObject;
  /**
   * The next node by outcome. `timeout` and `server_exited` fall back to `error`; an outcome that leads nowhere ends the run
   * with it.
   */
  readonly next: Readonly<Partial<Record<OutcomeName, string>>>;
}

const KEYS = ['id', 'connections', 'entry', 'nodes'];
const NODE_KEYS = ['id', 'capability', 'input', 'next'];
const DEPLOYMENT_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;
const NODE_ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
/** Names of the graph's own state. */
const RESERVED_IDS = ['input', 'nodes', 'epochs', 'last', 'trace', 'deployment'];
const NODES_MOST = 1000;
const BOUNDS = { maxDepth: 64, maxBytes: 4 * 1024 * 1024 };

/**
 * Checks a deployment by itself; whether its connections have its capabilities is known to a session only.
 * @throws CONFIG_INVALID with every problem listed, in the message and in `data.problems`
 */
export function parseDeployment(value: unknown): Deployment {
  const { deployment, problems } = readDeploymentValue(value);
  if (problems.length > 0) throw deploymentError(idOf(value), problems);
  return deployment;
}

export function deploymentError(id: string, problems: readonly string[]): ExtensionHostError {
  const text = `deployment ${id} is not valid:\n- ${problems.join('\n- ')}`;
  return new ExtensionHostError('CONFIG_INVALID', text, { data: { problems } });
}

/** The deployment, worth something only without problems. */
export function readDeploymentValue(given: unknown): {
  readonly deployment: Deployment;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const copied = copyJson(given, BOUNDS);
  const value: unknown = copied.ok ? copied.value : undefined;
  if (!copied.ok) problems.push(`a deployment must be JSON: ${copied.reason}`);
  else if (!isRecord(value)) problems.push(`a deployment must be an object, not ${kindOf(value)}`);
  const read = new OptionReader(isRecord(value) ? value : {}, '', problems);
  const deployment = isRecord(value)
    ? readDeployment(read, problems)
    : { id: '', connections: [], entry: '', nodes: [] };
  return { deployment, problems };
}

/** The declared connection that a capability belongs to: the longest one, since names may hold dots. */
export function connectionOfCapability(capability: string, connections: readonly string[]): string | undefined {
  return connections
    .filter((connection) => capability.startsWith(`${connection}.`) && capability.length > connection.length + 1)
    .sort((a, b) => b.length - a.length)[0];
}

/** Where an outcome of a node leads; `undefined` ends the run. */
export function nextOf({ next }: DeploymentNode, outcome: OutcomeName): string | undefined {
  if (next[outcome] !== undefined) return next[outcome];
  return outcome === 'timeout' || outcome === 'server_exited' ? next.error : undefined;
}

function readDeployment(read: OptionReader, problems: string[]): Deployment {
  read.refuseUnknown(KEYS);
  const id = read.text('id', '');
  if (!read.has('id')) read.problem('id', 'is missing; give the deployment a name');
  else if (!DEPLOYMENT_ID.test(id) && typeof read.value('id') === 'string')
    read.problem('id', 'must be letters, digits, ".", "_" and "-", at most 100');
  const connections = read.texts('connections');
  if (!read.has('connections'))
    read.problem('connections', 'is missing; list the connections that the capabilities belong to');
  const entry = read.text('entry', '');
  if (!read.has('entry')) read.problem('entry', 'is missing; name the node to start at');
  const nodes = readNodes(read, connections, problems);
  checkGraph(read, entry, nodes, problems);
  for (const [i, connection] of connections.entries()) {
    const used = nodes.some(({ capability }) => connectionOfCapability(capability, connections) === connection);
    if (!used && nodes.length > 0) read.problem(`connections[${i}]`, `no node uses ${JSON.stringify(connection)}`);
  }
  return { id, connections, entry, nodes };
}

function readNodes(read: OptionReader, connections: readonly string[], problems: string[]): DeploymentNode[] {
  const list: unknown = read.value('nodes');
  if (!Array.isArray(list) || list.length === 0) {
    read.problem('nodes', 'must be a list of at least one { "id", "capability", "input", "next" }');
    return [];
  }
  if (list.length > NODES_MOST) {
    read.problem('nodes', `must be at most ${NODES_MOST} nodes, not ${list.length}`);
    return [];
  }
  return list.flatMap((entry: unknown, i) => {
    if (isRecord(entry)) return [readNode(entry, `nodes[${i}]`, connections, problems)];
    read.problem(`nodes[${i}]`, `must be an object, not ${kindOf(entry)}`);
    return [];
  });
}

function readNode(
  entry: Readonly<Record<string, unknown>>,
  path: string,
  connections: readonly string[],
  problems: string[],
): DeploymentNode {
  const read = new OptionReader(entry, path, problems);
  read.refuseUnknown(NODE_KEYS);
  const id = read.text('id', '');
  if (!NODE_ID.test(id)) read.problem('id', 'must be a letter, then letters, digits, "_" and "-", at most 64');
  else if (RESERVED_IDS.includes(id)) read.problem('id', `${id} names a part of the run's state; take another`);
  const capability = read.text('capability', '');
  if (connectionOfCapability(capability, connections) === undefined)
    read.problem('capability', 'must be "<connection>.<tool>" with a connection that "connections" lists');
  const input = (read.record('input', '{ "url": "${input.url}" }') ?? {}) as JsonObject;
  const edges = read.record('next', '{ "ok": "click", "state_lost": "open" }') ?? {};
  return { id, capability, input, next: readEdges(new OptionReader(edges, `${path}.next`, problems), edges) };
}

function readEdges(read: OptionReader, edges: Readonly<Record<string, unknown>>): DeploymentNode['next'] {
  const next: Partial<Record<OutcomeName, string>> = {};
  for (const key of Object.keys(edges)) {
    const outcome = OUTCOMES.find((name) => name === key);
    const target = read.value(key);
    if (outcome === undefined)
      read.problem(key, `no such outcome; did you mean "${nearestName(key, OUTCOMES) ?? ''}"?`);
    else if (typeof target !== 'string') read.problem(key, `must be a node's id, not ${kindOf(target)}`);
    else next[outcome] = target;
  }
  return next;
}

function checkGraph(read: OptionReader, entry: string, nodes: readonly DeploymentNode[], problems: string[]): void {
  const ids = nodes.map(({ id }) => id);
  const known = new Set(ids);
  const unknown = (id: string): string => {
    const nearest = nearestName(id, ids);
    return `there is no node ${JSON.stringify(id)}${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`;
  };
  if (read.has('entry') && !known.has(entry)) read.problem('entry', unknown(entry));
  for (const [i, { id, next, input }] of nodes.entries()) {
    if (ids.indexOf(id) !== i) problems.push(`nodes[${i}].id: ${JSON.stringify(id)} is there twice`);
    for (const [outcome, target] of Object.entries(next))
      if (!known.has(target)) problems.push(`nodes[${i}].next.${outcome}: ${unknown(target)}`);
    for (const path of templatePaths(input)) {
      const problem = templateProblem(path, known, unknown);
      if (problem !== undefined) problems.push(`nodes[${i}].input: \${${path}}: ${problem}`);
    }
  }
  if (!known.has(entry)) return;
  const reached = reachedFrom(entry, nodes);
  for (const [i, { id }] of nodes.entries())
    if (!reached.has(id)) problems.push(`nodes[${i}]: ${JSON.stringify(id)} cannot be reached from the entry`);
}

function templateProblem(
  path: string,
  known: ReadonlySet<string>,
  unknown: (id: string) => string,
): string | undefined {
  const [root, second, third] = pathSteps(path);
  if (root === undefined)
    return 'must be a path such as input.url or nodes.snap1.output.content; write $${ for a literal ${';
  if (root === 'input') return undefined;
  if (second === undefined || third === undefined) return 'must go on with a node and output, message or outcome';
  if (!known.has(second)) return unknown(second);
  return third === 'output' || third === 'outcome' || third === 'message'
    ? undefined
    : `a node has output, message and outcome, not ${JSON.stringify(third)}`;
}

function reachedFrom(entry: string, nodes: readonly DeploymentNode[]): ReadonlySet<string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const reached = new Set<string>();
  const open = [entry];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const node = byId.get(id);
    if (!node || reached.has(id)) continue;
    reached.add(id);
    open.push(...Object.values(node.next));
  }
  return reached;
}

function idOf(value: unknown): string {
  const id = isRecord(value) ? value['id'] : undefined;
  return typeof id === 'string' && DEPLOYMENT_ID.test(id) ? id : '(unnamed)';
}
