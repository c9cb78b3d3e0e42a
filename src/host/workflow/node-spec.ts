import { type JsonObject, setOwn } from '../../shared/json.ts';
import type { Capability, WorkflowCatalog } from './capability.ts';
import type { ToolCallOptions, ToolCallOutcome, ToolExecutor } from './tool-executor.ts';

/** A capability that can be invoked: what a graph's node is made of. */
export interface NodeSpec extends Capability {
  /**
   * Calls the tool on its executor's process. Keys whose value is `undefined` are not sent, and nothing is filled in.
   * @throws ABORTED, INVALID_ARGUMENT, SESSION_CLOSED
   */
  invoke(input: Readonly<Record<string, unknown>>, context?: ToolCallOptions): Promise<ToolCallOutcome>;
}

/**
 * Makes a node spec of every capability: `nodeSpecs(session.catalog, session.executor)`. Discovery made the catalogue and
 * its processes are gone; the specs run on the executor's, which live as long as its session.
 */
export function nodeSpecs(catalog: WorkflowCatalog, executor: ToolExecutor): readonly NodeSpec[] {
  return catalog.map((capability) => ({
    ...capability,
    invoke: (input, context) => executor.callTool(capability.connectionId, capability.tool, mappedKeys(input), context),
  }));
}

/** The input without keys that hold nothing. */
export function mappedKeys(input: Readonly<Record<string, unknown>>): JsonObject {
  const payload = {};
  for (const [key, value] of Object.entries(input)) if (value !== undefined) setOwn(payload, key, value);
  return payload;
}
