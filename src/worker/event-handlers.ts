import { messageOf } from '../shared/errors.ts';
import { EVENT_NAMES, type EventName } from '../shared/events.ts';
import type { ExtensionContext, Logger } from '../shared/extension-api.ts';
import { isRecord, type JsonObject, type JsonValue, setOwn } from '../shared/json.ts';
import type { Commit } from '../shared/protocol.ts';

type AnyHandler = (event: JsonObject, ctx: ExtensionContext) => unknown;

interface Subscription {
  readonly handler: AnyHandler;
  readonly timeoutMs: number;
}

/** The event handlers of one instance: run in the order they came, each bounded; one that throws or is late is skipped. */
export class EventHandlers {
  readonly #logger: Logger;
  readonly #defaultMs: number;
  readonly #subscriptions = new Map<EventName, Set<Subscription>>();

  constructor(logger: Logger, defaultMs: number) {
    this.#logger = logger;
    this.#defaultMs = defaultMs;
  }

  /** False when there is no such event: an extension written for a later version goes on without it. */
  add<Name extends EventName>(event: Name, handler: unknown, timeoutMs: number | undefined): (() => void) | undefined {
    if (!EVENT_NAMES.includes(event) || typeof handler !== 'function') return undefined;
    const bound = event === 'session_shutdown' ? Math.max(timeoutMs ?? 0, this.#defaultMs) : this.#defaultMs;
    const subscription: Subscription = { handler: handler as AnyHandler, timeoutMs: bound };
    const set = this.#subscriptions.get(event) ?? new Set();
    this.#subscriptions.set(event, set.add(subscription));
    return () => set.delete(subscription);
  }

  get announced(): Commit['events'] {
    return [...this.#subscriptions]
      .filter(([, set]) => set.size > 0)
      .map(([event, set]) => ({
        event,
        timeoutMs: [...set].reduce((sum, subscription) => sum + subscription.timeoutMs, 0),
      }));
  }

  clear(): void {
    this.#subscriptions.clear();
  }

  /** What the handlers returned, merged: sections of later ones win by key. */
  async emit(event: EventName, payload: JsonObject, ctx: ExtensionContext): Promise<JsonObject> {
    const sections = {};
    for (const subscription of this.#subscriptions.get(event) ?? []) {
      const returned = await this.#run(event, subscription, payload, ctx);
      if (event !== 'before_agent_start' || !isRecord(returned) || !isRecord(returned['sections'])) continue;
      for (const [key, text] of Object.entries(returned['sections'])) {
        if (typeof text === 'string') setOwn(sections, key, text satisfies JsonValue);
      }
    }
    return event === 'before_agent_start' ? { sections } : {};
  }

  async #run(
    event: EventName,
    { handler, timeoutMs }: Subscription,
    payload: JsonObject,
    ctx: ExtensionContext,
  ): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`it did not end within ${timeoutMs} ms`)), timeoutMs);
    });
    try {
      return await Promise.race([(async () => await handler(payload, ctx))(), late]);
    } catch (error) {
      this.#logger.warn({ event }, `a ${event} handler failed and is skipped: ${messageOf(error)}`);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }
}
