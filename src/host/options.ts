import type { Logger as PinoLogger } from 'pino';
import type { ProcessRequest } from '../shared/extension-api.ts';
import type { JsonObject } from '../shared/json.ts';
import type { Limits } from '../shared/limits.ts';
import type { Permissions, PermissionUse, Tier } from '../shared/sandbox.ts';
import type { Content, Failure, Progress, ToolCall, ToolDescriptor } from '../shared/tool.ts';
import type { Ceiling } from './policy/grants.ts';
import type { Session } from './session.ts';

/** An extension as the operator names it. */
export interface ExtensionEntry {
  /** A file (`.js`, `.mjs`, `.ts`), a folder with a `package.json` or an index, or a `file:` URL. */
  readonly path: string;
  /** Given to the factory as `api.options`; plain JSON. */
  readonly options?: JsonObject;
  /** Names of host variables that `api.env.get` may answer. Default none. */
  readonly env?: readonly string[];
  /** `trusted` (default): whoever names it vouches for it. `sandboxed`: it runs in the engine, held to its grants. */
  readonly tier?: Tier;
}

/** A tool of the host itself. It runs on the main thread; extensions can never replace it. */
export interface BuiltinTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of type `object`. */
  readonly parameters: JsonObject;
  execute(
    args: JsonObject,
    context: { readonly sessionId: string; readonly signal: AbortSignal },
  ): Promise<BuiltinResult | string> | BuiltinResult | string;
}

export interface BuiltinResult {
  readonly content: readonly Content[];
  readonly isError?: boolean;
}

/** A process that an extension is about to start. `env` are its explicit entries, null removes one. */
export interface SpawnRequest extends ProcessRequest {
  readonly extension: string;
  /** Absent when the process belongs to no session: a discovery, or a server of all sessions. */
  readonly sessionId?: string;
  readonly timeZone?: string;
}

/** What a host's own policy may say about processes. What it leaves out stays built in. */
export interface SpawnPolicyOptions {
  /**
   * Which of the host's variables a process inherits. It replaces the filter by name and value; explicit entries, `TZ` and the
   * owner mark come on top. What is redacted, and what a worker itself sees, stays with the built-in filter.
   */
  readonly inherit?: (
    hostEnv: Readonly<Record<string, string | undefined>>,
    request: SpawnRequest,
  ) => Readonly<Record<string, string | undefined>>;
  /**
   * Called before each start, `limits.eventHandlerMs` at most. What it returns replaces that part of the request; `env` entries
   * are added to the explicit ones. A throw refuses the start with its message.
   */
  readonly beforeSpawn?: (request: SpawnRequest) => SpawnChange | undefined | Promise<SpawnChange | undefined>;
}

export interface SpawnChange {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | null>>;
}

/** What `approve` answers; anything else, a throw and silence deny. The reason reaches the model. */
export type Approval = 'allow' | 'deny' | { readonly decision: 'allow' | 'deny'; readonly reason?: string };

/**
 * Looks at a call before it is sent, for `limits.approvalMs` at most. `signal` fires when the call is over for its caller:
 * nobody waits for the answer any more.
 */
export type Approve = (
  call: Required<ToolCall>,
  descriptor: ToolDescriptor,
  session: Session,
  options: { readonly signal: AbortSignal },
) => Approval | Promise<Approval>;

/** Around a question: who asks, and what else is known. `signal` fires when nobody waits for the answer any more. */
export interface QuestionContext {
  readonly extension: string;
  readonly signal: AbortSignal;
}

/** Around a question to the person. `text` explains the title; `default` is what the asker would take. */
export interface UiQuestionContext<Answer> extends QuestionContext {
  readonly text?: string;
  readonly default?: Answer;
}

/**
 * How a session asks its person. `undefined` = closed without an answer; a method that is missing, a throw and
 * `limits.questionMs` without an answer count as that. Texts are redacted, and may hold newlines.
 */
export interface SessionUi {
  confirm?(title: string, context: UiQuestionContext<boolean>): Promise<boolean | undefined>;
  /** Answers with one of the options. */
  select?(title: string, options: readonly string[], context: UiQuestionContext<string>): Promise<string | undefined>;
  input?(
    title: string,
    context: UiQuestionContext<string> & { readonly placeholder?: string },
  ): Promise<string | undefined>;
}

/**
 * Answers a server's request for a message of the host's model. `params` as in MCP 2025-06-18, `sampling/createMessage`, and
 * redacted; so is the answer: `{ role, content, model, stopReason? }`, or a promise of it. A throw refuses, and its message is told.
 */
export type OnSampling = (params: JsonObject, context: QuestionContext & { readonly server: string }) => unknown;

export interface ExtensionHostOptions {
  /** Where settings and caches live. Default: `CALDERA_AGENT_DIR`, else `~/.caldera/agent`. */
  readonly agentDir?: string;
  /** In load order, which decides who gets a name that two ask for. */
  readonly extensions?: readonly (string | ExtensionEntry)[];
  /**
   * Folders of drop-ins, one level deep, besides `<agentDir>/extensions`. What lies there is sandboxed, unless the operator
   * granted it something (`caldera extensions grant`).
   */
  readonly extensionDirs?: readonly string[];
  /** Picks up changes in those folders while running. Default false: `reload` does. */
  readonly watch?: boolean;
  /** What no grant goes beyond. */
  readonly ceiling?: Ceiling;
  readonly builtinTools?: readonly BuiltinTool[];
  /** Values to take out of everything that leaves a worker; each of at least 6 characters. */
  readonly secrets?: readonly string[];
  /** The host's environment, read at each spawn. Default `process.env`. */
  readonly hostEnv?: () => Readonly<Record<string, string | undefined>>;
  readonly spawnPolicy?: SpawnPolicyOptions;
  /** Default: every call is allowed. Asked for built-in tools as well. */
  readonly approve?: Approve;
  /** Default silent. */
  readonly logger?: PinoLogger;
  readonly limits?: Partial<Limits>;
}

export interface SessionOptions {
  /** Unique among the open sessions. */
  readonly id: string;
  /** The workspace: absolute, or relative to the process's cwd. It has to exist. */
  readonly cwd: string;
  /** IANA name; becomes `TZ` of the session's processes. */
  readonly timeZone?: string;
  /** Unset = every tool, late ones included; a list names exactly what is active. */
  readonly activeTools?: readonly string[];
  /** Who answers questions of extensions and servers. Default nobody: they are declined. */
  readonly ui?: SessionUi;
  /** The host's model, for servers that ask for a message. Default none: they are refused. */
  readonly onSampling?: OnSampling;
  /** Ends the opening, not the session. */
  readonly signal?: AbortSignal;
}

export interface CallOptions {
  /** Rejects the call with `ABORTED` and cancels it at the server. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** Wall time from here on, everything included. 0 = none. Default `limits.callTimeoutMs`. */
  readonly timeoutMs?: number;
  /** Another epoch behind the tool → `STATE_LOST`, nothing sent. */
  readonly expectEpoch?: string;
}

export interface CommandInfo {
  readonly name: string;
  readonly description: string;
  readonly extension: string;
}

/** What a session tells its host program. */
export interface SessionEvents {
  'tools-changed': readonly ToolDescriptor[];
  message: {
    readonly customType: string;
    readonly content: unknown;
    readonly display: boolean;
    readonly extension: string;
  };
  notify: { readonly level: 'info' | 'warning' | 'error'; readonly text: string; readonly extension: string };
  status: { readonly key: string; readonly text: string; readonly extension: string };
}

export type ExtensionState = 'loading' | 'running' | 'restarting' | 'failed' | 'crash-looping' | 'closed';

export interface LogRecord {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly extension?: string;
  readonly [key: string]: unknown;
}

/** What a host tells its program. */
export interface HostEvents {
  'extension-state': {
    readonly extension: string;
    readonly state: ExtensionState;
    readonly generation: number;
    readonly reason?: string;
  };
  log: LogRecord;
}

/** A snapshot of the host, taken without asking any thread. */
export interface HostInspection {
  readonly version: string;
  readonly pid: number;
  readonly uptimeMs: number;
  /** Delay of the main loop since the last inspection. */
  readonly eventLoop: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };
  readonly memory: { readonly rssMb: number; readonly heapMb: number };
  readonly extensions: readonly {
    readonly name: string;
    readonly path: string;
    readonly tier: Tier;
    /** Of a sandboxed extension: what it asked for, what it was granted, how often it used and was refused what. */
    readonly permissions?: {
      readonly requested: Permissions;
      readonly granted: Permissions;
      readonly used: PermissionUse['used'];
      readonly denied: PermissionUse['denied'];
    };
    readonly state: ExtensionState;
    readonly threads: readonly {
      readonly state: ExtensionState;
      readonly generation: number;
      readonly sessions: number;
      readonly restarts: number;
      /** Share of its life in which the thread was busy, 0 to 1. */
      readonly utilization: number;
      /** Heap and external memory that the thread holds, as of its last beat. */
      readonly heapMb: number;
      /** How long ago the thread was last seen to run. */
      readonly beatAgeMs: number;
      /** Log records, progress, notices and status that were over the limits and are lost. */
      readonly droppedNotes: number;
      /** Linear memory of the engine's machines, idle ones included; of a sandboxed extension. */
      readonly sandboxMb?: number;
      readonly pids: readonly number[];
    }[];
    readonly failures: readonly Failure[];
  }[];
  readonly sessions: readonly {
    readonly id: string;
    readonly cwd: string;
    readonly tools: number;
    readonly inFlight: number;
    readonly openedAt: string;
  }[];
  readonly processes: readonly {
    readonly pid: number;
    readonly extension: string;
    readonly session?: string;
    readonly server?: string;
    readonly state: 'running';
    readonly rssMb: number;
  }[];
}
