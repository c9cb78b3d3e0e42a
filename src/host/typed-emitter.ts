/** Behind this many held events the next ones are lost: whoever floods while nobody can listen yet is not worth the memory. */
const HELD_EVENTS = 10_000;

/** Listeners by event. A listener that throws is told to `onError`, and the others are still called. */
export class TypedEmitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(value: never) => void>>();
  readonly #onError: (error: unknown) => void;
  #held: (() => void)[] | undefined;
  #releasing = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  on<Name extends keyof Events>(event: Name, listener: (value: Events[Name]) => void): () => void {
    const set = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, set.add(listener as (value: never) => void));
    return () => set.delete(listener as (value: never) => void);
  }

  /** From now on events wait for {@link releaseSoon}, in their order. */
  hold(): void {
    this.#held ??= [];
  }

  /**
   * Lets whoever waits for the opening subscribe, then emits what was held. An event that comes before is no earlier than the
   * next macrotask, so it takes the held ones along: none arrives after the result of the call that caused it.
   */
  releaseSoon(): void {
    this.#releasing = true;
    setImmediate(() => this.#release());
  }

  emit<Name extends keyof Events>(event: Name, value: Events[Name]): void {
    if (this.#releasing) this.#release();
    if (this.#held) {
      if (this.#held.length < HELD_EVENTS) this.#held.push(() => this.emit(event, value));
      return;
    }
    for (const listener of this.#listeners.get(event) ?? []) {
      try {
        (listener as (value: Events[Name]) => void)(value);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#releasing = false;
    for (const emit of held) emit();
  }

  has(event: keyof Events): boolean {
    return (this.#listeners.get(event)?.size ?? 0) > 0;
  }

  clear(): void {
    this.#held = undefined;
    this.#listeners.clear();
  }
}
