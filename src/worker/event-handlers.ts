import { messageOf } from '../shared/errors.ts';
import { EVENT_NAMES, type EventName, type EventPayload } from '../shared/events.ts';
import type { ExtensionContext, Logger } from '../shared/extension-api.ts';
import { isRecord, setOwn } from '../shared/json.ts';
import type { Commit } from '../shared/protocol.ts';

type AnyHandler = (event: EventPayload, ctx: ExtensionContext) => unknown;

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

  /**
   * What the handlers returned, merged: sections and environment entries of later ones win by key; the first that blocks a
   * call ends the round.
   */
  async emit(event: EventName, payload: EventPayload, ctx: ExtensionContext): Promise<EventPayload> {
    const merged = new MergedAnswers(event);
    for (const subscription of this.#subscriptions.get(event) ?? []) {
      merged.add(await this.#run(event, subscription, payload, ctx));
      if (merged.isFinal) break;
    }
    return merged.answer;
  }

  async #run(
    event: EventName,
    { handler, timeoutMs }: Subscription,
    payload: EventPayload,
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

/** What the handlers of one event may return, taken together; anything else is ignored. */
class MergedAnswers {
  readonly #event: EventName;
  readonly #sections = {};
  readonly #env = {};
  #block: string | undefined;

  constructor(event: EventName) {
    this.#event = event;
  }

  get isFinal(): boolean {
    return this.#block !== undefined;
  }

  get answer(): EventPayload {
    if (this.#event === 'before_agent_start') return { sections: this.#sections };
    if (this.#event === 'process_spawn') return { env: this.#env };
    return this.#block === undefined ? {} : { block: this.#block };
  }

  add(returned: unknown): void {
    if (!isRecord(returned)) return;
    const { sections, env, block } = returned;
    if (this.#event === 'before_agent_start')
      copyEntries(sections, this.#sections, (value) => typeof value === 'string');
    if (this.#event === 'process_spawn')
      copyEntries(env, this.#env, (value) => typeof value === 'string' || value === null);
    if (this.#event === 'tool_call' && typeof block === 'string') this.#block = block;
  }
}

function copyEntries(from: unknown, to: object, fits: (value: unknown) => boolean): void {
  if (!isRecord(from)) return;
  for (const [key, value] of Object.entries(from)) if (fits(value)) setOwn(to, key, value);
}
