const WATCHED = [
  Object.prototype,
  Function.prototype,
  Array.prototype,
  Promise.prototype,
  Error.prototype,
  Map.prototype,
  JSON,
  Object,
  Reflect,
];

const TICK_MS = 5;

/** What an attack must not change on the main thread, and how long it kept that from running. */
export class MainThreadWatch {
  #maxGapMs = 0;
  #last = performance.now();
  #keys = '';

  constructor() {
    setInterval(() => {
      const now = performance.now();
      this.#maxGapMs = Math.max(this.#maxGapMs, now - this.#last - TICK_MS);
      this.#last = now;
    }, TICK_MS).unref();
  }

  begin(): void {
    this.#keys = keys();
    this.#maxGapMs = 0;
    this.#last = performance.now();
  }

  get gapMs(): number {
    return this.#maxGapMs;
  }

  get isClean(): boolean {
    return keys() === this.#keys && !('polluted' in {});
  }
}

function keys(): string {
  return JSON.stringify([...WATCHED, globalThis].map((one) => Reflect.ownKeys(one).map(String).sort()));
}
