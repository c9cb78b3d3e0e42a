import type { JsonObject } from '../../../../shared/json.ts';
import type { Progress } from '../../../../shared/tool.ts';

/**
 * A live MCP client in our own types: the one seam between this extension and a protocol library. The SDK's types stay
 * behind it, so that another library (or the SDK's next major line) can join as a second adapter.
 */
export interface ClientPort {
  /** initialize + initialized. Rejects when the server answers wrongly or ends; the caller keeps the time. */
  connect(): Promise<ServerInfo>;
  /**
   * One page of `tools/list`, unchecked: entries are looked at one by one by the catalogue. `undefined` when the server
   * announced no tools.
   */
  listTools(
    cursor: string | undefined,
  ): Promise<{ readonly tools: readonly unknown[]; readonly nextCursor?: string } | undefined>;
  /** Sends one `tools/call`. */
  call(request: ClientCall): ClientCallHandle;
  /** Any well-formed answer, an error too, proves life and resolves. */
  ping(): Promise<void>;
  /** Called with each notification the server sends on its own account. */
  onNotification: ((method: string, params: unknown) => void) | undefined;
  /** Answers the server's requests; what it does not know, and everything while it is unset, is refused at once. */
  onRequest: RequestHandler | undefined;
  /** Lets go of the client; the process is the stop ladder's business. */
  close(): Promise<void>;
}

/** Gives the result of a server's request, or `undefined` for one it does not know. `signal`: the answer is not wanted any more. */
export type RequestHandler = (
  method: string,
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<Record<string, unknown>> | undefined;

export interface ServerInfo {
  readonly name?: string;
  readonly version?: string;
  readonly protocolVersion?: string;
}

export interface ClientCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly onProgress: (progress: Progress) => void;
}

export interface ClientCallHandle {
  /** The raw result, or a rejection with an {@link ExtensionHostError}: PROTOCOL for a JSON-RPC error or a malformed answer, LINE_TOO_LONG, SERVER_EXITED. */
  readonly answer: Promise<unknown>;
  /** True from the moment the request was handed to the pipe. */
  readonly sent: boolean;
  /** Tells the server once, with a fixed reason; the answer may still come and then settles. Ends within 2 s. */
  cancel(): Promise<void>;
}
