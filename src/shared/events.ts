import type { JsonObject } from './json.ts';
import type { ToolResult, ToolSource } from './tool.ts';

/** Why a session starts. `recovered`: its thread died and came back. */
export type SessionStartReason = 'startup' | 'new' | 'resume' | 'fork' | 'recovered';

/** Why a conversation goes on elsewhere: the instances stay. */
export type RestartReason = 'new' | 'resume' | 'fork';

/** Why a session ends for good. */
export type CloseReason = 'quit' | 'reload';

export interface SessionStartEvent {
  readonly reason: SessionStartReason;
}

export interface SessionShutdownEvent {
  readonly reason: RestartReason | CloseReason;
  /** The whole stop has to fit into this; absent = as the handler announced when it subscribed. */
  readonly timeoutMs?: number;
}

export interface BeforeAgentStartEvent {
  readonly prompt: string;
  readonly activeTools: readonly string[];
}

/** What a `before_agent_start` handler may return: sections of the system prompt, by key. */
export interface BeforeAgentStartResult {
  readonly sections?: Readonly<Record<string, string>>;
}

/** A call that is about to be sent; its arguments fit the tool's schema as far as the host checks it. */
export interface ToolCallEvent {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** What a `tool_call` handler may return: the first `block` ends the call as a `TOOL_DENIED` result with this reason. */
export interface ToolCallVerdict {
  readonly block?: string;
}

/** What a call came back as, as its caller gets it: secrets are out. */
export interface ToolResultEvent {
  readonly name: string;
  readonly result: ToolResult;
}

/** A process of this session before it is started. Secrets in it are replaced by `[REDACTED]`. */
export interface ProcessSpawnEvent {
  readonly purpose: 'mcp-server' | 'tool';
  readonly origin: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment it would get. */
  readonly env: Readonly<Record<string, string>>;
}

/** What a `process_spawn` handler may return: entries to set; null removes. Later handlers win. */
export interface ProcessSpawnChange {
  readonly env?: Readonly<Record<string, string | null>>;
}

export interface ToolsChangedEvent {
  readonly tools: readonly { readonly name: string; readonly source: ToolSource }[];
  readonly activeTools: readonly string[];
}

export interface SettingsChangedEvent {
  /** The same as `api.settings` from now on. */
  readonly settings: JsonObject;
}

/**
 * The events of a session and what their handlers get and may return. Handlers run in load order, each bounded; one that
 * throws or is late is logged and skipped.
 */
export interface EventMap {
  session_start: { event: SessionStartEvent; result: undefined };
  session_shutdown: { event: SessionShutdownEvent; result: undefined };
  before_agent_start: { event: BeforeAgentStartEvent; result: BeforeAgentStartResult | undefined };
  tool_call: { event: ToolCallEvent; result: ToolCallVerdict | undefined };
  tool_result: { event: ToolResultEvent; result: undefined };
  process_spawn: { event: ProcessSpawnEvent; result: ProcessSpawnChange | undefined };
  tools_changed: { event: ToolsChangedEvent; result: undefined };
  settings_changed: { event: SettingsChangedEvent; result: undefined };
}

export type EventName = keyof EventMap;

export const EVENT_NAMES = [
  'session_start',
  'session_shutdown',
  'before_agent_start',
  'tool_call',
  'tool_result',
  'process_spawn',
  'tools_changed',
  'settings_changed',
] as const satisfies EventName[];

/** What crosses for an event: checked by the side that reads it. */
export type EventPayload = Readonly<Record<string, unknown>>;
