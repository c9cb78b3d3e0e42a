import { ExtensionHostError } from '../../shared/errors.ts';
import type { EventName } from '../../shared/events.ts';
import type { CommandDefinition, ExtensionApi, ToolDefinition } from '../../shared/extension-api.ts';
import type { JsonObject } from '../../shared/json.ts';

/** Registrations of one guest over its life: a loop of them costs the host nothing after that. */
const MOST = 4096;

/** Which callback of the guest is behind a registration; another guest has another one. */
export interface GuestCallback {
  callback: number;
}

interface Registered extends GuestCallback {
  readonly kind: 'tool' | 'command' | 'event';
  readonly name: string;
  /** What was registered, as text: the same again keeps its place. */
  readonly text: string;
  readonly remove: () => void;
  /** From a guest that is gone; a new one has not registered it again so far. */
  stale: boolean;
}

/** What a guest has registered with the real API, across the guests of one session. */
export class Registrations {
  readonly #api: ExtensionApi;
  #entries: Registered[] = [];
  #count = 0;
  #stale = 0;

  constructor(api: ExtensionApi) {
    this.#api = api;
  }

  get tools(): readonly {
    readonly name: string;
    readonly source: { readonly kind: 'extension'; readonly extension: string };
  }[] {
    return this.#of('tool').map(({ name }) => ({ name, source: { kind: 'extension', extension: '' } }));
  }

  handlersOf(event: EventName): readonly number[] {
    return this.#of('event').flatMap(({ name, callback }) => (name === event ? [callback] : []));
  }

  /** A new guest begins: what there is waits for being registered again. */
  begin(): void {
    this.#count = 0;
    for (const entry of this.#entries) entry.stale = true;
    this.#stale = this.#entries.length;
  }

  /** What the new guest did not register again goes. */
  settle(): void {
    for (const entry of this.#entries) if (entry.stale) entry.remove();
    this.#entries = this.#entries.filter(({ stale }) => !stale);
    this.#stale = 0;
  }

  addTool(
    callback: number,
    definition: JsonObject | Record<string, unknown>,
    execute: (entry: GuestCallback) => ToolDefinition['execute'],
  ): void {
    this.#spend();
    const name = String(definition['name']);
    const text = JSON.stringify(definition);
    if (this.#again('tool', name, text, callback)) return;
    const entry: GuestCallback = { callback };
    const remove = this.#api.registerTool({ ...(definition as unknown as ToolDefinition), execute: execute(entry) });
    this.#keep(entry, 'tool', name, text, remove);
  }

  addCommand(
    callback: number,
    name: string,
    description: string,
    handler: (entry: GuestCallback) => CommandDefinition['handler'],
  ): void {
    this.#spend();
    if (this.#again('command', name, description, callback)) return;
    const entry: GuestCallback = { callback };
    const remove = this.#api.registerCommand(name, { description, handler: handler(entry) });
    this.#keep(entry, 'command', name, description, remove);
  }

  addHandler(
    callback: number,
    event: EventName,
    timeoutMs: number | undefined,
    handler: (payload: unknown) => Promise<unknown>,
  ): void {
    this.#spend();
    const options = timeoutMs === undefined ? {} : { timeoutMs };
    // What a guest's handler returns is read by whoever emits the event, as that of any other handler.
    const remove = this.#api.on(event, handler as Parameters<ExtensionApi['on']>[1], options);
    this.#keep({ callback }, 'event', event, '', remove);
  }

  remove(callback: number): void {
    const entry = this.#entries.find((one) => one.callback === callback && !one.stale);
    if (!entry) return;
    this.#entries = this.#entries.filter((one) => one !== entry);
    entry.remove();
  }

  #of(kind: Registered['kind']): readonly Registered[] {
    return this.#entries.filter((entry) => entry.kind === kind && !entry.stale);
  }

  /** True when the guest before had the same: only the callback behind it is another one. */
  #again(kind: Registered['kind'], name: string, text: string, callback: number): boolean {
    if (this.#stale === 0) return false;
    const before = this.#entries.find((entry) => entry.stale && entry.kind === kind && entry.name === name);
    if (!before) return false;
    if (before.text === text) {
      before.stale = false;
      before.callback = callback;
      return true;
    }
    before.remove();
    this.#entries = this.#entries.filter((entry) => entry !== before);
    return false;
  }

  #keep(entry: GuestCallback, kind: Registered['kind'], name: string, text: string, remove: () => void): void {
    this.#entries.push(Object.assign(entry, { kind, name, text, remove, stale: false }));
  }

  #spend(): void {
    this.#count += 1;
    if (this.#count > MOST)
      throw new ExtensionHostError('HOST_BUSY', `more than ${MOST} registrations of one instance`);
  }
}
