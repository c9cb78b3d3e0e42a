/** Listeners by event. A listener that throws is told to `onError`, and the others are still called. */
export class TypedEmitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(value: never) => void>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  on<Name extends keyof Events>(event: Name, listener: (value: Events[Name]) => void): () => void {
    const set = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, set.add(listener as (value: never) => void));
    return () => set.delete(listener as (value: never) => void);
  }

  emit<Name extends keyof Events>(event: Name, value: Events[Name]): void {
    for (const listener of this.#listeners.get(event) ?? []) {
      try {
        (listener as (value: Events[Name]) => void)(value);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  has(event: keyof Events): boolean {
    return (this.#listeners.get(event)?.size ?? 0) > 0;
  }

  clear(): void {
    this.#listeners.clear();
  }
}
