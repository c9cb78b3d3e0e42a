import type { JsonObject, JsonValue } from '../../shared/json.ts';
import type { Progress } from '../../shared/tool.ts';

/** What a tool said, as workflow code and templates see it. On `error` too. */
export interface ToolOutput {
  /** The text blocks, joined with newlines; empty when there are none. */
  readonly content: string;
  /** The tool's `structuredContent`. */
  readonly structured?: JsonValue;
  /** Base64, in the order of the result. */
  readonly images?: readonly { readonly data: string; readonly mimeType: string }[];
}

/**
 * How a call ended. `epoch` names the server process behind the connection, for equality only; it is empty when no process
 * is behind the call (a tool of an extension or of the host itself, a server that could not start).
 *
 * `timeout`, `server_exited` and `state_lost` say nothing about what the tool did: a timed-out call may have run, one that
 * met a death too; `state_lost` was not sent.
 */
export type ToolCallOutcome =
  | { readonly outcome: 'ok'; readonly output: ToolOutput; readonly epoch: string }
  | { readonly outcome: 'error'; readonly message: string; readonly output: ToolOutput; readonly epoch: string }
  | {
      readonly outcome: 'timeout' | 'server_exited' | 'state_lost';
      readonly message: string;
      readonly epoch: string;
    };

export const OUTCOMES = ['ok', 'error', 'state_lost', 'timeout', 'server_exited'] as const;

export type OutcomeName = (typeof OUTCOMES)[number];

export interface ToolCallOptions {
  /** Rejects the call with `ABORTED` and cancels it at the server. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /**
   * The epoch the caller's state lives in. Under another one the call of a stateful connection ends as `state_lost`, checked
   * just before the write. A connection that keeps no state (`parallel`) does not heed it.
   */
  readonly expectEpoch?: string;
}

/**
 * The only thing workflow code depends on: calls a tool of a connection, on the process that its owner's session holds. Made
 * by `session.executor`; there is none that opens a process for one call.
 */
export interface ToolExecutor {
  /**
   * Whatever fails behind the call is an outcome.
   * @throws ABORTED, INVALID_ARGUMENT (a payload that is no JSON object), SESSION_CLOSED
   */
  callTool(
    connectionId: string,
    toolName: string,
    payload: JsonObject,
    options?: ToolCallOptions,
  ): Promise<ToolCallOutcome>;
}
