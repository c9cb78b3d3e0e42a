/**
 * Workflows over stateful servers; the package's `./workflow` entry. Importing it loads no MCP SDK, and LangGraph, an
 * optional peer, only where a graph is built.
 */

export type { ErrorCode } from '../../shared/errors.ts';
export type { JsonObject, JsonValue } from '../../shared/json.ts';
export type { Failure, Progress, ToolAnnotations } from '../../shared/tool.ts';
export {
  type BuildGraphOptions,
  buildGraph,
  type GraphConfig,
  type WorkflowGraph,
} from './build-graph.ts';
export type { Capability, WorkflowCatalog } from './capability.ts';
export type { CheckpointSaver } from './checkpoint-saver.ts';
export { type Deployment, type DeploymentNode, parseDeployment } from './deployment.ts';
export { readDeployment } from './deployment-file.ts';
export { createFileSaver } from './file-saver.ts';
export {
  type GraphNode,
  type GraphNodeConfig,
  type GraphNodeOptions,
  type InvocableSpec,
  toLangGraphNode,
} from './graph-node.ts';
export { type NodeSpec, nodeSpecs } from './node-spec.ts';
export { type CallCapabilityOptions, Planner, type PlannerOptions, type RunDeploymentOptions } from './planner.ts';
export type { RunOptions, RunResult } from './run-deployment.ts';
export { type NodeRecord, type RunEvent, type RunState, type RunUpdate, runChannels } from './run-state.ts';
export type {
  OutcomeName,
  ToolCallOptions,
  ToolCallOutcome,
  ToolExecutor,
  ToolOutput,
} from './tool-executor.ts';
export type { WorkflowHost, WorkflowSession } from './workflow-host.ts';
