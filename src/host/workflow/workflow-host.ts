import type { Failure } from '../../shared/tool.ts';
import type { WorkflowCatalog } from './capability.ts';
import type { ToolExecutor } from './tool-executor.ts';

/** A session as workflows need it; a `Session` of the host is one. */
export interface WorkflowSession {
  readonly catalog: WorkflowCatalog;
  readonly executor: ToolExecutor;
  readonly failures: readonly Failure[];
  runCommand(name: string, args?: string): Promise<{ readonly text: string }>;
  close(): Promise<void>;
}

/** A host as workflows need it; an `ExtensionHost` is one. */
export interface WorkflowHost {
  /** Where deployments and runs are kept. */
  readonly agentDir: string;
  openSession(options: {
    readonly id: string;
    readonly cwd: string;
    readonly signal?: AbortSignal;
  }): Promise<WorkflowSession>;
}
