/**
 * The whole boundary between the main thread and one worker thread, on one page.
 *
 * Calls go one way, host → worker, through Comlink: {@link ThreadRemote} on the control port, {@link SessionRemote} on each
 * session's port. What the worker has to say goes as notes (one-way) and host requests (answered by a Comlink call `answer`),
 * plain messages on the same ports, checked here against a closed table. The host exposes nothing.
 */
import * as z from 'zod';
import { ERROR_CODES, type WireError, WireErrorSchema } from './errors.ts';
import { EVENT_NAMES, type EventName, type EventPayload } from './events.ts';
import type { JsonObject } from './json.ts';
import type { Limits } from './limits.ts';
import type { MessagePortLike } from './port-endpoint.ts';
import { QUESTION_SCHEMAS, type QuestionAnswers } from './question.ts';
import { type PermissionUse, PermissionUseSchema, type SandboxBoot } from './sandbox.ts';
import { type Content, ContentSchema, type Failure, type Progress, ProgressSchema, type ToolSource } from './tool.ts';

// ── Start of a thread ────────────────────────────────────────────────────────────────────────────────────────────────

/** `workerData` of a thread. */
export interface ThreadBoot {
  /** The extension's id. */
  readonly extension: string;
  /** `file:` URL of the extension's entry. */
  readonly url: string;
  readonly options: JsonObject;
  /** As they are at the start; `settings` of {@link ThreadRemote} tells of later ones. */
  readonly settings: JsonObject;
  readonly agentDir: string;
  readonly limits: Limits;
  /** 1 for the first thread of an extension, then one more each time. */
  readonly generation: number;
  /** How far the thread cuts behind a cap, so that the host can still redact what lies on the edge. */
  readonly overlapBytes: number;
  /** Where the thread says that it lives; see `vitals.ts`. */
  readonly vitals: SharedArrayBuffer;
  /** Present for a sandboxed extension: it is evaluated in an engine of its own, held to this. */
  readonly sandbox?: SandboxBoot;
  readonly control: MessagePortLike;
}

// ── Calls: host → worker ─────────────────────────────────────────────────────────────────────────────────────────────

/** Every remote method answers with one of these; nothing is thrown through Comlink, which would lose class and code. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: WireError };

export interface ThreadRemote {
  /** Imports the extension's file and checks its default export. */
  load(): Promise<Outcome<null>>;
  /** Runs the factory for a session; what it registered is the commit. A failed factory has registered nothing. */
  openSession(opening: SessionOpening, port: MessagePortLike): Promise<Outcome<Commit>>;
  /** The operator's settings have changed; events about it come after the answer. */
  settings(settings: JsonObject): Promise<Outcome<null>>;
  /** Ends every process the extension still has. The thread is terminated after it. */
  shutdown(timeoutMs: number): Promise<Outcome<null>>;
  answer(id: number, outcome: Outcome<unknown>): Promise<void>;
}

export interface SessionRemote {
  /** The table behind a digest of a commit. */
  table(digest: string): Promise<Outcome<ToolTable>>;
  call(request: CallRequest): Promise<Outcome<WireToolResult>>;
  cancel(callId: string): Promise<void>;
  command(name: string, args: string): Promise<Outcome<string>>;
  /** Runs this session's handlers of an event; answers with what they returned, merged. */
  emit(event: EventName, payload: EventPayload): Promise<Outcome<EventPayload>>;
  /** Tells what is offered and active now, for `getAllTools` and `getActiveTools`. */
  snapshot(snapshot: ToolSnapshot): Promise<void>;
  answer(id: number, outcome: Outcome<unknown>): Promise<void>;
  /** The instance is done: its signal fires, its port closes. */
  close(): Promise<void>;
}

export interface SessionOpening {
  readonly sessionId: string;
  readonly cwd: string;
  readonly timeZone?: string;
  /** False: every question is answered as if the person had closed it. */
  readonly hasUI: boolean;
  readonly canSample: boolean;
  readonly snapshot: ToolSnapshot;
}

export interface ToolSnapshot {
  readonly tools: readonly { readonly name: string; readonly source: ToolSource }[];
  readonly active: readonly string[];
}

export interface CallRequest {
  readonly callId: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly expectEpoch?: string;
}

// ── Answers: what the host checks before it believes it ──────────────────────────────────────────────────────────────

/** A tool as it crosses; payloads (schemas) stay unread by the host and are bounded by the worker. */
export interface WireTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
  readonly executionMode: 'sequential' | 'parallel';
  readonly outputSchema?: unknown;
  readonly annotations?: unknown;
  readonly promptSnippet?: string;
  readonly source?: { readonly server: string; readonly tool: string };
}

export type ToolTable = readonly WireTool[];

/** What an instance offers now. The table itself is asked for only when the host does not know the digest. */
export interface Commit {
  readonly digest: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly events: readonly { readonly event: EventName; readonly timeoutMs: number }[];
  readonly failures: readonly Omit<Failure, 'extension'>[];
}

/** A result cut in the worker at each cap plus the overlap. `lines` and `bytes` are the totals before that cut. */
export interface WireToolResult {
  readonly content: readonly Content[];
  readonly isError: boolean;
  readonly structuredContent?: unknown;
  readonly details?: unknown;
  readonly text: { readonly lines: number; readonly bytes: number };
  readonly images: number;
}

const Code = z.enum(ERROR_CODES);

export function outcomeSchema<T>(value: z.ZodType<T>): z.ZodType<Outcome<T>> {
  return z.discriminatedUnion('ok', [
    z.object({ ok: z.literal(true), value }),
    z.object({ ok: z.literal(false), error: WireErrorSchema }),
  ]) as unknown as z.ZodType<Outcome<T>>;
}

const FailureSchema: z.ZodType<Omit<Failure, 'extension'>> = z.object({
  server: z.exactOptional(z.string()),
  tool: z.exactOptional(z.string()),
  code: Code,
  message: z.string(),
});

export const CommitSchema: z.ZodType<Commit> = z.object({
  digest: z.string().max(128),
  commands: z.array(z.object({ name: z.string(), description: z.string() })),
  events: z.array(z.object({ event: z.enum(EVENT_NAMES), timeoutMs: z.number().nonnegative() })),
  failures: z.array(FailureSchema),
});

export const ToolTableSchema: z.ZodType<ToolTable> = z.array(
  z.object({
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
    description: z.string(),
    parameters: z.looseObject({}) as z.ZodType<unknown>,
    executionMode: z.enum(['sequential', 'parallel']),
    outputSchema: z.exactOptional(z.unknown()),
    annotations: z.exactOptional(z.unknown()),
    promptSnippet: z.exactOptional(z.string()),
    source: z.exactOptional(z.object({ server: z.string(), tool: z.string() })),
  }),
);

export const WireToolResultSchema: z.ZodType<WireToolResult> = z.object({
  content: z.array(ContentSchema),
  isError: z.boolean(),
  structuredContent: z.exactOptional(z.unknown()),
  details: z.exactOptional(z.unknown()),
  text: z.object({ lines: z.number().nonnegative(), bytes: z.number().nonnegative() }),
  images: z.number().nonnegative(),
});

// ── Notes: worker → host, one-way ────────────────────────────────────────────────────────────────────────────────────

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Notes that may be lost: credited in the thread, and dropped and counted over the credit. All others are never dropped. */
export const LOSSY_NOTES: ReadonlySet<string> = new Set(['log', 'progress', 'notify', 'status']);

/** On the control port. */
export type ThreadNote =
  | { readonly type: 'log'; readonly level: LogLevel; readonly message: string; readonly facts?: unknown }
  | {
      readonly type: 'process';
      readonly pid: number;
      readonly group: boolean;
      readonly state: 'running' | 'exited';
      /** Start time in clock ticks since boot; a pid alone may be somebody else's by the time the note is read. */
      readonly start?: number;
      readonly server?: string;
      readonly sessionId?: string;
    }
  /** An error that nobody caught ends the thread. It still runs, so that the children it has can be ended and reaped first. */
  | { readonly type: 'dying'; readonly message: string }
  /** Counts since the thread began; at most ten a second. */
  | { readonly type: 'permission-use'; readonly use: PermissionUse };

/** On a session's port, so that a call's progress arrives before its result. */
export type SessionNote =
  | { readonly type: 'progress'; readonly callId: string; readonly progress: Progress }
  | { readonly type: 'notify'; readonly level: 'info' | 'warning' | 'error'; readonly text: string }
  | { readonly type: 'status'; readonly key: string; readonly text: string }
  | { readonly type: 'message'; readonly customType: string; readonly content: unknown; readonly display: boolean }
  | { readonly type: 'commit'; readonly commit: Commit }
  | { readonly type: 'active-tools'; readonly names: readonly string[] }
  | { readonly type: 'failure'; readonly failure: Omit<Failure, 'extension'> };

export const ThreadNoteSchema: z.ZodType<ThreadNote> = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('log'),
    level: z.enum(LOG_LEVELS),
    message: z.string(),
    facts: z.exactOptional(z.unknown()),
  }),
  z.object({
    type: z.literal('process'),
    pid: z.int().min(2),
    group: z.boolean(),
    state: z.enum(['running', 'exited']),
    start: z.exactOptional(z.int().positive()),
    server: z.exactOptional(z.string()),
    sessionId: z.exactOptional(z.string()),
  }),
  z.object({ type: z.literal('dying'), message: z.string() }),
  z.object({ type: z.literal('permission-use'), use: PermissionUseSchema }),
]);

export const SessionNoteSchema: z.ZodType<SessionNote> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), callId: z.string(), progress: ProgressSchema }),
  z.object({ type: z.literal('notify'), level: z.enum(['info', 'warning', 'error']), text: z.string() }),
  z.object({ type: z.literal('status'), key: z.string(), text: z.string() }),
  z.object({ type: z.literal('message'), customType: z.string(), content: z.unknown(), display: z.boolean() }),
  z.object({ type: z.literal('commit'), commit: CommitSchema }),
  z.object({ type: z.literal('active-tools'), names: z.array(z.string()) }),
  z.object({ type: z.literal('failure'), failure: FailureSchema }),
]);

// ── Host requests: worker → host, answered through `answer` ──────────────────────────────────────────────────────────

const Prepare = z.object({
  purpose: z.enum(['mcp-server', 'tool']),
  origin: z.string(),
  command: z.string(),
  args: z.array(z.string()),
  cwd: z.string(),
  env: z.record(z.string(), z.nullable(z.string())),
});

/** The closed table of what a worker may ask for. The same on both kinds of port; a session's port adds its session. */
export const HOST_REQUESTS = {
  'process.prepare': Prepare,
  'env.get': z.object({ name: z.string() }),
  /** Answers `{ state: 'produce', ticket }` to one caller and makes the others wait for what it settles. */
  'cache.claim': z.object({ key: z.string(), persist: z.boolean() }),
  'cache.settle': z.object({
    ticket: z.number(),
    outcome: z.union([
      z.object({ ok: z.literal(true), value: z.unknown() }),
      z.object({ ok: z.literal(false), error: WireErrorSchema, failureTtlMs: z.number().nonnegative() }),
    ]),
  }),
  'cache.drop': z.object({ key: z.string() }),
  /** Calls a tool of an MCP server in the session that asks; answered with its result. For whom the permission `mcp` was granted. */
  'tool.call': z.object({ server: z.string(), tool: z.string(), arguments: z.unknown() }),
  /** To the person and the model of a session; they come on a session's port only, and have a bound of their own there. */
  ...QUESTION_SCHEMAS,
} as const;

export type HostRequestName = keyof typeof HOST_REQUESTS;
export type HostRequestPayload<Name extends HostRequestName> = z.infer<(typeof HOST_REQUESTS)[Name]>;

/** What each request is answered with. */
export interface HostAnswers extends QuestionAnswers {
  'process.prepare': {
    readonly command: string;
    readonly args: readonly string[];
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly id: string;
  };
  'env.get': { readonly value?: string };
  'cache.claim':
    | { readonly state: 'produce'; readonly ticket: number }
    /** `ticket`: the value is old; who gets one produces it anew, behind. */
    | { readonly state: 'value'; readonly value: unknown; readonly ticket?: number };
  'cache.settle': null;
  'cache.drop': null;
  'tool.call': unknown;
}

/** The envelope of a request on the wire; `{ note }` is the other message a worker may post. */
export const HostRequestSchema = z.object({
  request: z.object({ id: z.int().positive(), op: z.string(), payload: z.unknown() }),
});
