import type { PermissionUse, UseKey } from '../../shared/sandbox.ts';

const TELL_MS = 100;

/** Counts what an extension used and what it was refused; tells the host at most ten times a second. */
export class UsageCounter {
  readonly #tell: (use: PermissionUse) => void;
  readonly #used: Partial<Record<UseKey, number>> = {};
  readonly #denied: Partial<Record<UseKey, number>> = {};
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (use: PermissionUse) => void) {
    this.#tell = tell;
  }

  used(key: UseKey): void {
    this.#used[key] = (this.#used[key] ?? 0) + 1;
    this.#later();
  }

  denied(key: UseKey): void {
    this.#denied[key] = (this.#denied[key] ?? 0) + 1;
    this.#later();
  }

  /** Tells now what has not been told. */
  flush(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#tell({ used: { ...this.#used }, denied: { ...this.#denied } });
  }

  #later(): void {
    this.#timer ??= setTimeout(() => this.flush(), TELL_MS).unref();
  }
}
