import { createHash } from 'node:crypto';
import { abortError, ExtensionHostError } from '../../shared/errors.ts';
import type { JsonObject } from '../../shared/json.ts';
import { buildGraph, type GraphConfig, type WorkflowGraph } from './build-graph.ts';
import type { CheckpointSaver } from './checkpoint-saver.ts';
import { type Deployment, deploymentError } from './deployment.ts';
import { missingInput, problemsAgainst } from './deployment-fit.ts';
import { INTERRUPTED } from './graph-node.ts';
import type { NodeRecord, RunEvent, RunState } from './run-state.ts';
import type { OutcomeName, ToolOutput } from './tool-executor.ts';
import type { WorkflowSession } from './workflow-host.ts';

/** What a run came to. Plain data. */
export interface RunResult {
  readonly runId: string;
  readonly deployment: string;
  /** The last node's. `error` too when the run was ended for its length. */
  readonly outcome: OutcomeName;
  readonly message?: string;
  /** The last node's. */
  readonly output?: ToolOutput;
  /** By node id, of each node that has run. */
  readonly nodes: Readonly<Record<string, NodeRecord>>;
  readonly trace: readonly RunEvent[];
}

export interface RunOptions {
  /** Ends the run: what it is calling is cancelled at the server, and the run rejects with `ABORTED`. */
  readonly signal?: AbortSignal;
  /** Called after each node. */
  readonly onEvent?: (event: RunEvent) => void;
  /** The most nodes one run may go through, before it ends as `error`. Default 250. */
  readonly maxSteps?: number;
}

export interface Run extends RunOptions {
  readonly runId: string;
  readonly deployment: Deployment;
  readonly input: JsonObject;
  readonly session: Pick<WorkflowSession, 'catalog' | 'executor' | 'failures'>;
  readonly saver: CheckpointSaver;
  /** Goes on with an earlier run of that id instead of beginning one. */
  readonly resume: boolean;
}

const DEFAULT_MAX_STEPS = 250;

/**
 * Runs a deployment to its end on one session. What is kept of it is removed when it has ended, and stays when it was
 * interrupted.
 * @throws CONFIG_INVALID, INVALID_ARGUMENT (input, or nothing to resume), ABORTED, SESSION_CLOSED
 */
export async function runDeployment(run: Run): Promise<RunResult> {
  const { runId, deployment, input, session, saver, resume, signal, maxSteps = DEFAULT_MAX_STEPS } = run;
  if (signal?.aborted) throw abortError(`run ${runId}`, signal);
  const problems = problemsAgainst(deployment, session.catalog, session.failures);
  if (problems.length > 0) throw deploymentError(deployment.id, problems);
  const graph = await buildGraph(deployment, session.executor, { catalog: session.catalog, checkpointer: saver });
  const place = { configurable: { thread_id: runId } };
  const digest = digestOf(deployment);
  const { values, next } = await graph.getState(place);
  const begin = resume ? null : { input, deployment: digest };
  if (resume) checkResumable(runId, values, next, digest);
  else checkNew(run, values, next);
  const config: GraphConfig = {
    configurable: { thread_id: runId, [INTERRUPTED]: new Set(resume ? next : []) },
    recursionLimit: maxSteps,
    // A checkpoint that is late would have a resumed run call again what it has called.
    durability: 'sync',
    ...(signal === undefined ? {} : { signal }),
  };
  const { state, tooLong } = await follow(graph, begin, config, run);
  await saver.deleteThread(runId);
  const { last } = state;
  const tail = tooLong
    ? { outcome: 'error' as const, message: `the run was ended: it had not come to an end after ${maxSteps} nodes` }
    : { outcome: last?.outcome ?? 'error', ...(last?.message === undefined ? {} : { message: last.message }) };
  return {
    runId,
    deployment: deployment.id,
    ...tail,
    ...(last?.output === undefined ? {} : { output: last.output }),
    nodes: state.nodes ?? {},
    trace: state.trace ?? [],
  };
}

/** Streams the graph to its end and gives the last state. */
async function follow(
  graph: WorkflowGraph,
  begin: Partial<RunState> | null,
  config: GraphConfig,
  { runId, signal, onEvent }: Run,
): Promise<{ readonly state: Partial<RunState>; readonly tooLong: boolean }> {
  let state: Partial<RunState> = {};
  try {
    const stream = await graph.stream(begin, { ...config, streamMode: ['custom', 'values'] });
    for await (const chunk of stream) {
      const [mode, value] = chunk as readonly [string, unknown];
      if (mode === 'values') state = value as Partial<RunState>;
      else onEvent?.(value as RunEvent);
    }
    return { state, tooLong: false };
  } catch (error) {
    if (signal?.aborted) throw abortError(`run ${runId}`, signal);
    if (error instanceof Error && error.name === 'GraphRecursionError') return { state, tooLong: true };
    throw error;
  }
}

function checkNew({ runId, deployment, input }: Run, values: Partial<RunState>, next: readonly string[]): void {
  if (next.length > 0 || values.deployment !== undefined) {
    const text = `run ${runId} was begun before and has not ended; resume it, or take another id`;
    throw new ExtensionHostError('INVALID_ARGUMENT', text);
  }
  const missing = missingInput(deployment, input);
  if (missing.length === 0) return;
  const text = `the input of deployment ${deployment.id} lacks ${missing.join(', ')}`;
  throw new ExtensionHostError('INVALID_ARGUMENT', text, { data: { missing } });
}

function checkResumable(runId: string, values: Partial<RunState>, next: readonly string[], digest: string): void {
  if (next.length === 0) {
    throw new ExtensionHostError('INVALID_ARGUMENT', `there is no run ${runId} to resume: none was interrupted`);
  }
  if (values.deployment === digest) return;
  const text = `run ${runId} cannot be resumed: its deployment has changed since; begin a new run`;
  throw new ExtensionHostError('INVALID_ARGUMENT', text);
}

function digestOf(deployment: Deployment): string {
  return createHash('sha256').update(JSON.stringify(deployment)).digest('hex');
}
