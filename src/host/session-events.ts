import { messageOf } from '../shared/errors.ts';
import type { EventName, EventPayload, ProcessSpawnChange, ProcessSpawnEvent } from '../shared/events.ts';
import { isRecord, type JsonObject, setOwn } from '../shared/json.ts';
import type { ToolResult } from '../shared/tool.ts';
import type { ResultPolicy } from './result-finish.ts';
import type { ExtensionSession } from './thread/extension-session.ts';

export interface SessionEventsOptions {
  readonly sessionId: string;
  /** In load order. */
  readonly instances: () => readonly ExtensionSession[];
  readonly results: ResultPolicy;
  readonly log: (level: 'warn', message: string, facts: JsonObject) => void;
}

/**
 * The events of one session, on their way to the extensions that subscribed to them: in load order, each bounded. One that
 * throws, is late or has no thread is logged and skipped; without a subscriber nothing crosses.
 */
export class SessionEventHub {
  readonly #options: SessionEventsOptions;

  constructor(options: SessionEventsOptions) {
    this.#options = options;
  }

  isHeard(event: EventName): boolean {
    return this.#options.instances().some((instance) => instance.listensTo(event));
  }

  /** What the handlers of one extension answered. */
  async emit(
    instance: ExtensionSession,
    event: EventName,
    payload: EventPayload,
    timeoutMs?: number,
  ): Promise<EventPayload | undefined> {
    try {
      return await instance.emit(event, payload, timeoutMs);
    } catch (error) {
      const { id } = instance.thread.extension;
      const facts = { extension: id, session: this.#options.sessionId };
      this.#options.log('warn', `an event handler of extension ${id} failed: ${messageOf(error)}`, facts);
      return undefined;
    }
  }

  /** Why a handler of `tool_call` blocks a call; `undefined` when none does. */
  async blockedBy(name: string, args: JsonObject): Promise<string | undefined> {
    for (const instance of this.#subscribers('tool_call')) {
      const { block } = (await this.emit(instance, 'tool_call', { name, arguments: args })) ?? {};
      if (typeof block === 'string')
        return block === '' ? `extension ${instance.thread.extension.id} blocks it` : block;
    }
    return undefined;
  }

  /** Nobody waits for those who look on. */
  observe(event: 'tool_result' | 'tools_changed' | 'settings_changed', payload: EventPayload): void {
    for (const instance of this.#options.instances()) {
      if (instance.listensTo(event)) void this.emit(instance, event, payload);
    }
  }

  observeResult(name: string, result: ToolResult): void {
    this.observe('tool_result', { name, result });
  }

  /** What the handlers of `process_spawn` want to set; `undefined` without any. */
  async onSpawn(event: ProcessSpawnEvent): Promise<ProcessSpawnChange['env']> {
    const subscribers = this.#subscribers('process_spawn');
    if (subscribers.length === 0) return undefined;
    const payload = this.#options.results.redactJson(event) as EventPayload;
    const env = {};
    for (const instance of subscribers) {
      const answer = await this.emit(instance, 'process_spawn', payload);
      for (const [name, value] of Object.entries(isRecord(answer?.['env']) ? answer['env'] : {})) {
        if (typeof value === 'string' || value === null) setOwn(env, name, value);
      }
    }
    return env;
  }

  /** Sections for the system prompt; later extensions win by key. */
  async promptSections(prompt: string, activeTools: readonly string[]): Promise<Record<string, string>> {
    const sections: Record<string, string> = {};
    for (const instance of this.#subscribers('before_agent_start')) {
      const returned = await this.emit(instance, 'before_agent_start', { prompt, activeTools: [...activeTools] });
      if (!isRecord(returned?.['sections'])) continue;
      for (const [key, text] of Object.entries(returned['sections'])) {
        if (typeof text === 'string') setOwn(sections, key, this.#options.results.redactText(text));
      }
    }
    return sections;
  }

  #subscribers(event: EventName): readonly ExtensionSession[] {
    return this.#options.instances().filter((instance) => instance.listensTo(event));
  }
}
