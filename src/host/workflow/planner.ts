import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ExtensionHostError } from '../../shared/errors.ts';
import type { JsonObject } from '../../shared/json.ts';
import { nearestName } from '../../shared/nearest-name.ts';
import type { WorkflowCatalog } from './capability.ts';
import type { CheckpointSaver } from './checkpoint-saver.ts';
import { type Deployment, parseDeployment } from './deployment.ts';
import { readDeployment } from './deployment-file.ts';
import { createFileSaver } from './file-saver.ts';
import { mappedKeys } from './node-spec.ts';
import { type RunOptions, type RunResult, runDeployment } from './run-deployment.ts';
import type { ToolCallOptions, ToolCallOutcome } from './tool-executor.ts';
import type { WorkflowHost, WorkflowSession } from './workflow-host.ts';

export interface PlannerOptions {
  /** The workspace of its own session, and of runs that name none. */
  readonly cwd: string;
  /** Where deployments are found by id. Default `<agentDir>/deployments`. */
  readonly deployments?: string;
  /** Keeps runs that are under way. Default: files in `<agentDir>/runs`. */
  readonly saver?: CheckpointSaver;
}

export interface CallCapabilityOptions extends ToolCallOptions {
  /** Where to make the step. Default: the planner's own session. */
  readonly session?: Pick<WorkflowSession, 'catalog' | 'executor'>;
}

export interface RunDeploymentOptions extends RunOptions {
  /** The id of the run and of its session. Default: a new one. */
  readonly runId?: string;
  /** Goes on with the run `runId` that was interrupted; its input is the one it was begun with. */
  readonly resume?: boolean;
  /** The run's workspace. Default: the planner's. */
  readonly cwd?: string;
}

const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/;

/**
 * What a planner needs of a host: what there is, a fresh look at a connection, one step, and a whole run. Steps run on one
 * session of the planner's own, which is opened when it is first needed, so that a page one step opened is there for the next.
 */
export class Planner {
  readonly #host: WorkflowHost;
  readonly #options: PlannerOptions;
  #session: Promise<WorkflowSession> | undefined;
  #saver: Promise<CheckpointSaver> | undefined;

  constructor(host: WorkflowHost, options: PlannerOptions) {
    this.#host = host;
    this.#options = options;
  }

  /** Everything a node or a step can do. Starts no process but discovery's, which is gone when it is listed. */
  async listCapabilities(): Promise<WorkflowCatalog> {
    return (await this.#open()).catalog;
  }

  /**
   * Looks at an MCP server again, with a short-lived process, and gives its capabilities. Sessions opened from now on have
   * them; a process that a session runs on is not touched.
   * @throws INVALID_ARGUMENT for an unknown or a disabled connection, SERVER_START_FAILED
   */
  async refreshConnectionCatalog(connectionId: string): Promise<WorkflowCatalog> {
    const session = await this.#open();
    await session.runCommand('mcp', `refresh ${connectionId}`);
    return session.catalog.filter((capability) => capability.connectionId === connectionId);
  }

  /**
   * Makes one step on the planner's session, or on the one given.
   * @throws INVALID_ARGUMENT for an unknown capability, ABORTED, SESSION_CLOSED
   */
  async callCapability(
    name: string,
    input: Readonly<Record<string, unknown>> = {},
    { session, ...options }: CallCapabilityOptions = {},
  ): Promise<ToolCallOutcome> {
    const { catalog, executor } = session ?? (await this.#open());
    const capability = catalog.find((one) => one.name === name);
    if (capability) return executor.callTool(capability.connectionId, capability.tool, mappedKeys(input), options);
    const nearest = nearestName(
      name,
      catalog.map((one) => one.name),
    );
    const mend = nearest === undefined ? 'there is none' : `did you mean "${nearest}"?`;
    throw new ExtensionHostError('INVALID_ARGUMENT', `there is no capability ${name}; ${mend}`);
  }

  /**
   * Runs a deployment, by id, by path or given whole, on a session of its own: `session id = run id`.
   * @throws CONFIG_INVALID with every problem listed, INVALID_ARGUMENT (input, run id, nothing to resume), ABORTED,
   *   SESSION_EXISTS while a run of that id is under way
   */
  async runDeployment(
    deployment: string | Deployment,
    input: JsonObject = {},
    { runId = `run-${randomUUID()}`, resume = false, cwd = this.#options.cwd, ...options }: RunDeploymentOptions = {},
  ): Promise<RunResult> {
    if (!RUN_ID.test(runId)) {
      const text = `the run id ${JSON.stringify(runId.slice(0, 200))} must be letters, digits, ".", "_", ":" and "-"`;
      throw new ExtensionHostError('INVALID_ARGUMENT', text);
    }
    const parsed =
      typeof deployment === 'string'
        ? readDeployment(deployment, this.#options.deployments ?? join(this.#host.agentDir, 'deployments'))
        : parseDeployment(deployment);
    const saver = await this.#checkpoints();
    const { signal } = options;
    const session = await this.#host.openSession({ id: runId, cwd, ...(signal === undefined ? {} : { signal }) });
    try {
      return await runDeployment({ ...options, runId, resume, input, deployment: parsed, session, saver });
    } finally {
      await session.close();
    }
  }

  /** Ends the planner's own session and its processes; runs under way go on. Idempotent. */
  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.then((open) => open.close()).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #open(): Promise<WorkflowSession> {
    this.#session ??= this.#host
      .openSession({ id: `planner-${randomUUID()}`, cwd: this.#options.cwd })
      .catch((error: unknown) => {
        this.#session = undefined;
        throw error;
      });
    return this.#session;
  }

  #checkpoints(): Promise<CheckpointSaver> {
    this.#saver ??=
      this.#options.saver === undefined
        ? createFileSaver(join(this.#host.agentDir, 'runs'))
        : Promise.resolve(this.#options.saver);
    return this.#saver;
  }
}
