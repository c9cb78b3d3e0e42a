/**
 * What an extension's author writes against; the package's `./extension` entry. It loads nothing but types and two small values.
 *
 * ```ts
 * import { defineExtension } from 'caldera/extension';
 * export default defineExtension((api) => {
 *   api.registerTool({ name: 'hello', description: 'Greets.', parameters: { type: 'object' }, execute: async () => ({ content: [{ type: 'text', text: 'hi' }] }) });
 * });
 * ```
 */
import type { ErrorCode } from './errors.ts';
import type {
  BeforeAgentStartEvent,
  BeforeAgentStartResult,
  EventMap,
  EventName,
  ProcessSpawnChange,
  ProcessSpawnEvent,
  SessionShutdownEvent,
  SessionStartEvent,
  SettingsChangedEvent,
  ToolCallEvent,
  ToolCallVerdict,
  ToolResultEvent,
  ToolsChangedEvent,
} from './events.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Limits } from './limits.ts';
import type { SampleRequest, UiAnswer, UiQuestion } from './question.ts';
import type { Content, ExecutionMode, Progress, ToolAnnotations, ToolSource } from './tool.ts';

export type { SandboxFiles, SandboxMcp, SandboxRequest, SandboxResponse, SandboxStorage } from './sandbox-library.ts';

export { fetch, fs, mcp, storage } from './sandbox-library.ts';
export type {
  BeforeAgentStartEvent,
  BeforeAgentStartResult,
  Content,
  ErrorCode,
  EventMap,
  EventName,
  ExecutionMode,
  JsonObject,
  JsonValue,
  Limits,
  ProcessSpawnChange,
  ProcessSpawnEvent,
  Progress,
  SampleRequest,
  SessionShutdownEvent,
  SessionStartEvent,
  SettingsChangedEvent,
  ToolAnnotations,
  ToolCallEvent,
  ToolCallVerdict,
  ToolResultEvent,
  ToolSource,
  ToolsChangedEvent,
  UiAnswer,
  UiQuestion,
};

/** What `execute` returns. `isError` defaults to false. Images are base64; caps are applied behind it. */
export interface ToolExecutionResult {
  readonly content: readonly Content[];
  readonly isError?: boolean;
  readonly structuredContent?: JsonValue;
  /** Facts for programs; keys the host knows (`outcome`, `epoch`, `server`, …) keep their meaning. */
  readonly details?: JsonObject;
}

/** A tool as an extension registers it. */
export interface ToolDefinition {
  /** `[A-Za-z0-9_-]{1,64}`; the name of a built-in is refused. */
  readonly name: string;
  /** For people; shown nowhere by the host itself. */
  readonly label?: string;
  readonly description: string;
  /** JSON Schema of type `object`. The host checks top-level `required` and primitive types; the rest is the tool's. */
  readonly parameters: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  readonly promptSnippet?: string;
  /** Where the tool comes from, when the extension only passes it on. */
  readonly source?: { readonly server: string; readonly tool: string };
  /** Default `parallel`. */
  readonly executionMode?: ExecutionMode;
  /**
   * Runs one call. `signal` fires on abort, timeout and session end. A throw becomes an error result with its message;
   * throw {@link ToolExecutionError} to keep text and images.
   */
  execute(
    callId: string,
    params: JsonObject,
    signal: AbortSignal,
    onUpdate: (progress: Progress) => void,
    ctx: ToolContext,
  ): Promise<ToolExecutionResult | string> | ToolExecutionResult | string;
}

/** What a command's handler returns is shown to the person who ran it. */
export interface CommandDefinition {
  readonly description: string;
  handler(args: string, ctx: ExtensionContext): Promise<string> | string;
}

/** The session around a call, a command or an event. */
export interface ExtensionContext {
  readonly sessionId: string;
  /** Absolute. */
  readonly cwd: string;
  /** IANA name. */
  readonly timeZone?: string;
  /** Fires when the session ends. */
  readonly signal: AbortSignal;
  /** Prepares a process of this session: its time zone included. */
  readonly processes: { prepare(request: ProcessRequest): Promise<PreparedProcess> };
  /** True when there is somebody to ask. */
  readonly hasUI: boolean;
  /** True when the host's model can be asked through `sample`. */
  readonly canSample: boolean;
  /**
   * Asks the host's model for a message. Rejects PERMISSION_DENIED where there is none or it is refused, HOST_BUSY while too
   * many questions of the session are open, CALL_TIMEOUT after `limits.questionMs`.
   */
  sample(request: SampleRequest, options?: { readonly signal?: AbortSignal }): Promise<JsonValue>;
  /**
   * Questions wait for the person for `limits.questionMs` at most. Without a UI they are answered at once as if they had
   * been closed: `confirm` with false, the others with undefined. HOST_BUSY while too many of the session are open.
   */
  readonly ui: {
    confirm(title: string, text?: string): Promise<boolean>;
    /** Answers with one of the options. */
    select(title: string, options: readonly string[]): Promise<string | undefined>;
    input(title: string, placeholder?: string): Promise<string | undefined>;
    /** Any of them with all its parts; undefined when it was closed. An abort closes the question and answers undefined. */
    ask(question: UiQuestion, options?: { readonly signal?: AbortSignal }): Promise<UiAnswer>;
    /** Shows a line to the person; `level` defaults to `info`. */
    notify(text: string, level?: 'info' | 'warning' | 'error'): void;
    /** Keeps a line of status under `key`; an empty text removes it. */
    setStatus(key: string, text: string): void;
  };
}

/** The context of one call. */
export interface ToolContext extends ExtensionContext {
  /** The epoch the caller expects to act on; a connection compares it just before it writes. */
  readonly expectEpoch?: string;
}

/** A process an extension is about to start. */
export interface ProcessRequest {
  /** What for; `mcp-server` gets the environment policy of servers. */
  readonly purpose: 'mcp-server' | 'tool';
  /** Who asks: the server's name, or the tool's. */
  readonly origin: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Explicit entries: they pass whatever the policy says; null removes. */
  readonly env: Readonly<Record<string, string | null>>;
}

/** The environment is exact: nothing is to be merged into it. */
export interface PreparedProcess {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** `<host nonce>-<start number>`, never the same twice: the epoch of what is started with it. */
  readonly id: string;
}

/** A process that lives (`state: 'running'`) or has ended. Tell the host at once: it ends what is left when a thread dies. */
export interface ProcessNote {
  readonly pid: number;
  /** True when the process leads a group of its own, which is then ended with it. */
  readonly group: boolean;
  readonly server?: string;
  /** The session it belongs to; absent for a discovery or a shared one. */
  readonly sessionId?: string;
  readonly state: 'running' | 'exited';
}

/** Shaped like pino: a message, or facts and a message. Records reach the host's logger, bounded in number and size. */
export interface Logger {
  debug(facts: JsonObject | string, message?: string): void;
  info(facts: JsonObject | string, message?: string): void;
  warn(facts: JsonObject | string, message?: string): void;
  error(facts: JsonObject | string, message?: string): void;
}

/** How `cache.once` treats what `produce` throws. */
export interface CacheOptions {
  /** A failure is answered from the cache for so long. 0 = the next caller tries again. */
  readonly failureTtlMs: number;
  /**
   * Default false. The host keeps the value on disk for its next start, and has it produced anew behind when it is older than
   * a day. A value that holds a secret is not kept.
   */
  readonly persist?: boolean;
}

/** One instance of an extension: the factory gets it, once a session. What it registers while it runs is committed as one. */
export interface ExtensionApi {
  /** Adds a tool; the returned function removes it. After the factory each change commits by itself, batched per tick. */
  registerTool(tool: ToolDefinition): () => void;
  /** Adds a command (`/name`); the returned function removes it. */
  registerCommand(name: string, command: CommandDefinition): () => void;
  /**
   * Subscribes to an event; the returned function ends it.
   * `timeoutMs` raises the bound of this handler; only `session_shutdown` heeds it.
   */
  on<Name extends EventName>(
    event: Name,
    handler: (
      event: EventMap[Name]['event'],
      ctx: ExtensionContext,
    ) => Promise<EventMap[Name]['result']> | EventMap[Name]['result'],
    options?: { readonly timeoutMs?: number },
  ): () => void;
  /** Built-ins and every tool offered in this session; in the factory only built-ins and its own. */
  getAllTools(): { readonly name: string; readonly source: ToolSource }[];
  getActiveTools(): string[];
  /** Names exactly what is active from now on. */
  setActiveTools(names: readonly string[]): void;
  /** Appends to the chat without a turn. */
  sendMessage(message: { readonly customType: string; readonly content: JsonValue; readonly display?: boolean }): void;
  /** Shown in `session.failures` and `inspect()`. */
  reportFailure(failure: {
    readonly server?: string;
    readonly tool?: string;
    readonly code: ErrorCode;
    readonly message: string;
  }): void;
  /** As given with the path. */
  readonly options: JsonObject;
  /** `<agentDir>/settings.json` as the host read it last; `{}` without one. `settings_changed` tells of another. */
  readonly settings: JsonObject;
  /** Absolute. */
  readonly agentDir: string;
  readonly sessionId: string;
  readonly limits: Limits;
  readonly logger: Logger;
  readonly processes: {
    /** Prepares a process that belongs to no session: no time zone. */
    prepare(request: ProcessRequest): Promise<PreparedProcess>;
    track(note: ProcessNote): void;
  };
  /** Variables of the host that the operator granted to this extension; any other name rejects `PERMISSION_DENIED`. */
  readonly env: { get(name: string): Promise<string | undefined> };
  /** Shared by all sessions and threads of the host; keys are this extension's own. */
  readonly cache: {
    /** Single flight: one caller produces, the others wait for it. A failure rejects everybody and is kept for `failureTtlMs`. */
    once(key: string, produce: () => Promise<JsonValue>, options: CacheOptions): Promise<JsonValue>;
    drop(key: string): void;
  };
}

/** An extension's default export. */
export type ExtensionFactory = (api: ExtensionApi) => void | Promise<void>;

/** Gives the factory its types; does nothing else. */
export function defineExtension(factory: ExtensionFactory): ExtensionFactory {
  return factory;
}

/** Thrown by `execute` to end a call as an error whose text and images are kept. */
export class ToolExecutionError extends Error {
  readonly result: ToolExecutionResult;

  constructor(result: ToolExecutionResult) {
    const [first] = result.content;
    super(first?.type === 'text' ? first.text : 'the tool reported an error');
    this.name = 'ToolExecutionError';
    this.result = result;
  }
}
