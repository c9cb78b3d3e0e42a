import type { JsonObject } from './json.ts';

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

/**
 * The events of a session and what their handlers get and may return. Handlers run in load order, each bounded; one that
 * throws or is late is logged and skipped.
 */
export interface EventMap {
  session_start: { event: SessionStartEvent; result: undefined };
  session_shutdown: { event: SessionShutdownEvent; result: undefined };
  before_agent_start: { event: BeforeAgentStartEvent; result: BeforeAgentStartResult | undefined };
}

export type EventName = keyof EventMap;

export const EVENT_NAMES = ['session_start', 'session_shutdown', 'before_agent_start'] as const satisfies EventName[];

/** What crosses for an event: checked by the side that reads it. */
export type EventPayload = JsonObject;
