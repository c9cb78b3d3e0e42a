import { type ExtensionHostError, fromWireError, type WireError } from '../../shared/errors.ts';

type ClaimAnswer =
  | { readonly state: 'produce'; readonly ticket: number }
  | { readonly state: 'value'; readonly value: unknown };

interface Waiter {
  readonly owner: object;
  readonly resolve: (answer: ClaimAnswer) => void;
  readonly reject: (error: ExtensionHostError) => void;
}

type Entry =
  | { readonly state: 'producing'; readonly ticket: number; readonly owner: object; readonly waiters: Waiter[] }
  | { readonly state: 'value'; readonly value: unknown }
  | { readonly state: 'failed'; readonly error: WireError; readonly until: number };

/**
 * What `api.cache` keeps: single flight over every thread of the host. One claimer produces, the others wait for it; when
 * the producer's thread dies, the next one takes over. Keys are per extension.
 */
export class SharedCache {
  readonly #entries = new Map<string, Entry>();
  #nextTicket = 1;

  /** `owner` is the thread's life that asks. */
  claim(extension: string, key: string, owner: object): Promise<ClaimAnswer> {
    const full = keyOf(extension, key);
    const entry = this.#entries.get(full);
    if (entry?.state === 'value') return Promise.resolve({ state: 'value', value: entry.value });
    if (entry?.state === 'failed' && Date.now() < entry.until) return Promise.reject(fromWireError(entry.error));
    if (entry?.state === 'producing') {
      return new Promise((resolve, reject) => entry.waiters.push({ owner, resolve, reject }));
    }
    return Promise.resolve(this.#hand(full, owner, []));
  }

  settle(
    owner: object,
    ticket: number,
    outcome: { ok: true; value: unknown } | { ok: false; error: WireError; failureTtlMs: number },
  ): void {
    for (const [full, entry] of this.#entries) {
      // A ticket is its owner's: nobody else can settle it.
      if (entry.state !== 'producing' || entry.ticket !== ticket || entry.owner !== owner) continue;
      if (outcome.ok) {
        this.#entries.set(full, { state: 'value', value: outcome.value });
        for (const waiter of entry.waiters) waiter.resolve({ state: 'value', value: outcome.value });
      } else {
        if (outcome.failureTtlMs > 0) {
          this.#entries.set(full, { state: 'failed', error: outcome.error, until: Date.now() + outcome.failureTtlMs });
        } else this.#entries.delete(full);
        for (const waiter of entry.waiters) waiter.reject(fromWireError(outcome.error));
      }
      return;
    }
  }

  /** Forgets a value or a failure; what is being produced goes on. */
  drop(extension: string, key: string): void {
    const full = keyOf(extension, key);
    if (this.#entries.get(full)?.state !== 'producing') this.#entries.delete(full);
  }

  /** The thread has died: what it produced is handed to the next waiter, and it waits for nothing any more. */
  release(owner: object): void {
    for (const [full, entry] of this.#entries) {
      if (entry.state !== 'producing') continue;
      const waiters = entry.waiters.filter((waiter) => waiter.owner !== owner);
      if (entry.owner !== owner) {
        this.#entries.set(full, { ...entry, waiters });
        continue;
      }
      const next = waiters.shift();
      if (next) next.resolve(this.#hand(full, next.owner, waiters));
      else this.#entries.delete(full);
    }
  }

  #hand(full: string, owner: object, waiters: Waiter[]): ClaimAnswer {
    const ticket = this.#nextTicket++;
    this.#entries.set(full, { state: 'producing', ticket, owner, waiters });
    return { state: 'produce', ticket };
  }
}

function keyOf(extension: string, key: string): string {
  return `${extension}\0${key}`;
}
