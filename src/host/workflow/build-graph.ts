import type { WorkflowCatalog } from './capability.ts';
import type { CheckpointSaver } from './checkpoint-saver.ts';
import { connectionOfCapability, type Deployment, type DeploymentNode, deploymentError, nextOf } from './deployment.ts';
import { problemsAgainst } from './deployment-fit.ts';
import { asLangGraphSaver, loadLangGraph } from './engine.ts';
import { type GraphNode, type InvocableSpec, toLangGraphNode } from './graph-node.ts';
import { mappedKeys, nodeSpecs } from './node-spec.ts';
import { type RunState, runChannels } from './run-state.ts';
import { OUTCOMES, type OutcomeName, type ToolExecutor } from './tool-executor.ts';

export interface BuildGraphOptions {
  /** Checks the deployment against it, and tells stateful connections from others. Without it every connection counts as stateful. */
  readonly catalog?: WorkflowCatalog;
  /** Keeps the state after each node under `configurable.thread_id`. Default: nothing is kept. */
  readonly checkpointer?: CheckpointSaver;
}

/** What a graph is invoked with; LangGraph has more. */
export interface GraphConfig {
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
  /** The most steps. LangGraph's default is 25. */
  readonly recursionLimit?: number;
  readonly streamMode?: string | readonly string[];
  /** `sync`: the checkpoint of a step is written before the next begins. */
  readonly durability?: 'async' | 'sync' | 'exit';
}

/** LangGraph's compiled graph, as far as it is needed here; it is one, and can be used as one. */
export interface WorkflowGraph {
  invoke(input: Partial<RunState> | null, config?: GraphConfig): Promise<RunState>;
  stream(input: Partial<RunState> | null, config?: GraphConfig): Promise<AsyncIterable<unknown>>;
  getState(config: GraphConfig): Promise<{ readonly values: Partial<RunState>; readonly next: readonly string[] }>;
}

/** The builder's methods with plain ids: its own types want every id at compile time. */
interface GraphBuilder {
  addNode(id: string, node: GraphNode): unknown;
  addEdge(from: string, to: string): unknown;
  addConditionalEdges(from: string, choose: (state: RunState) => string, targets: readonly string[]): unknown;
  compile(options: object): WorkflowGraph;
}

/**
 * Makes a LangGraph graph of a deployment, over an executor. Loads `@langchain/langgraph`, an optional peer.
 * @throws CONFIG_INVALID when the deployment does not fit the catalogue, or LangGraph is not installed
 */
export async function buildGraph(
  deployment: Deployment,
  executor: ToolExecutor,
  { catalog, checkpointer }: BuildGraphOptions = {},
): Promise<WorkflowGraph> {
  const problems = catalog === undefined ? [] : problemsAgainst(deployment, catalog);
  if (problems.length > 0) throw deploymentError(deployment.id, problems);
  const { Annotation, END, START, StateGraph } = await loadLangGraph();
  const state = Annotation.Root({
    input: Annotation<RunState['input']>(),
    nodes: Annotation(runChannels.nodes),
    epochs: Annotation(runChannels.epochs),
    last: Annotation<RunState['last']>(),
    trace: Annotation(runChannels.trace),
    deployment: Annotation<string>(),
  });
  const builder = new StateGraph(state) as unknown as GraphBuilder;
  const specOf = specFinder(deployment, executor, catalog);
  for (const node of deployment.nodes) {
    const { id, input } = node;
    builder.addNode(id, toLangGraphNode(specOf(node), { id, input, entry: id === deployment.entry }));
    const choose = ({ last }: RunState): string => (last === undefined ? undefined : nextOf(node, last.outcome)) ?? END;
    const targets = OUTCOMES.map((outcome: OutcomeName) => nextOf(node, outcome) ?? END);
    builder.addConditionalEdges(id, choose, [...new Set(targets)]);
  }
  builder.addEdge(START, deployment.entry);
  return builder.compile({
    name: deployment.id,
    ...(checkpointer === undefined ? {} : { checkpointer: asLangGraphSaver(checkpointer) }),
  });
}

function specFinder(
  { id, connections }: Deployment,
  executor: ToolExecutor,
  catalog: WorkflowCatalog | undefined,
): (node: DeploymentNode) => InvocableSpec {
  const specs = new Map(nodeSpecs(catalog ?? [], executor).map((spec) => [spec.name, spec]));
  return ({ capability }) => {
    const spec = specs.get(capability);
    if (spec) return spec;
    const connectionId = connectionOfCapability(capability, connections);
    if (connectionId === undefined) throw deploymentError(id, [`${capability} belongs to none of its connections`]);
    const tool = capability.slice(connectionId.length + 1);
    return {
      name: capability,
      connectionId,
      invoke: (input, context) => executor.callTool(connectionId, tool, mappedKeys(input), context),
    };
  };
}
