import { type ExtensionHostError, fromWireError, type WireError } from '../../shared/errors.ts';
import type { DiskCache } from './disk-cache.ts';

/** A value from the disk that is older serves, and is produced anew behind. */
const FRESH_MS = 24 * 60 * 60 * 1000;

type ClaimAnswer =
  | { readonly state: 'produce'; readonly ticket: number }
  | { readonly state: 'value'; readonly value: unknown; readonly ticket?: number };

interface Waiter {
  readonly owner: object;
  readonly resolve: (answer: ClaimAnswer) => void;
  readonly reject: (error: ExtensionHostError) => void;
}

/** Somebody produces the value of a key, and holds the ticket to settle it with. */
interface Production {
  readonly ticket: number;
  readonly owner: object;
  readonly persist: boolean;
}

type Entry =
  | ({ readonly state: 'producing'; readonly waiters: Waiter[] } & Production)
  | { readonly state: 'value'; readonly value: unknown; readonly renewal?: Production }
  | { readonly state: 'failed'; readonly error: WireError; readonly until: number };

type SettledOutcome = { ok: true; value: unknown } | { ok: false; error: WireError; failureTtlMs: number };

export interface ClaimRequest {
  readonly extension: string;
  readonly key: string;
  /** The thread's life that asks. */
  readonly owner: object;
  /** The value is kept on disk, too. */
  readonly persist: boolean;
}

/**
 * What `api.cache` keeps: single flight over every thread of the host. One claimer produces, the others wait for it; when
 * the producer's thread dies, the next one takes over. Keys are per extension.
 */
export class SharedCache {
  readonly #disk: DiskCache | undefined;
  readonly #entries = new Map<string, Entry>();
  #nextTicket = 1;

  constructor(disk?: DiskCache) {
    this.#disk = disk;
  }

  claim({ extension, key, owner, persist }: ClaimRequest): Promise<ClaimAnswer> {
    const full = keyOf(extension, key);
    const entry = this.#entries.get(full);
    if (entry?.state === 'value') return Promise.resolve({ state: 'value', value: entry.value });
    if (entry?.state === 'failed' && Date.now() < entry.until) return Promise.reject(fromWireError(entry.error));
    if (entry?.state === 'producing') {
      return new Promise((resolve, reject) => entry.waiters.push({ owner, resolve, reject }));
    }
    const produce = this.#hand(full, { owner, persist }, []);
    return persist && this.#disk
      ? this.#fromDisk(this.#disk, extension, key, produce.ticket, owner)
      : Promise.resolve(produce);
  }

  settle(owner: object, ticket: number, outcome: SettledOutcome): void {
    for (const [full, entry] of this.#entries) {
      // A ticket is its owner's: nobody else can settle it.
      if (entry.state === 'producing' && entry.ticket === ticket && entry.owner === owner) {
        this.#finish(full, entry, outcome);
        return;
      }
      if (entry.state === 'value' && entry.renewal?.ticket === ticket && entry.renewal.owner === owner) {
        // An old value is better than none: a failure changes nothing.
        this.#entries.set(full, { state: 'value', value: outcome.ok ? outcome.value : entry.value });
        if (outcome.ok) this.#keep(full, outcome.value);
        return;
      }
    }
  }

  /** Forgets a value or a failure; what is being produced goes on. */
  drop(extension: string, key: string): void {
    const full = keyOf(extension, key);
    if (this.#entries.get(full)?.state === 'producing') return;
    this.#entries.delete(full);
    this.#disk?.drop(extension, key);
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
      if (next) next.resolve(this.#hand(full, { owner: next.owner, persist: entry.persist }, waiters));
      else this.#entries.delete(full);
    }
  }

  #finish(full: string, entry: Entry & { state: 'producing' }, outcome: SettledOutcome): void {
    const { waiters, persist } = entry;
    if (outcome.ok) {
      this.#entries.set(full, { state: 'value', value: outcome.value });
      for (const waiter of waiters) waiter.resolve({ state: 'value', value: outcome.value });
      if (persist) this.#keep(full, outcome.value);
      return;
    }
    if (outcome.failureTtlMs > 0) {
      this.#entries.set(full, { state: 'failed', error: outcome.error, until: Date.now() + outcome.failureTtlMs });
    } else this.#entries.delete(full);
    for (const waiter of waiters) waiter.reject(fromWireError(outcome.error));
  }

  /** The first claimer waits for the disk with the ticket in hand; later ones wait as they would for its production. */
  async #fromDisk(
    disk: DiskCache,
    extension: string,
    key: string,
    ticket: number,
    owner: object,
  ): Promise<ClaimAnswer> {
    const kept = await disk.read(extension, key);
    const full = keyOf(extension, key);
    const entry = this.#entries.get(full);
    if (!kept || entry?.state !== 'producing' || entry.ticket !== ticket) return { state: 'produce', ticket };
    const { value } = kept;
    for (const waiter of entry.waiters) waiter.resolve({ state: 'value', value });
    const isOld = Date.now() - kept.savedAt > FRESH_MS;
    this.#entries.set(full, { state: 'value', value, ...(isOld ? { renewal: { ticket, owner, persist: true } } : {}) });
    return { state: 'value', value, ...(isOld ? { ticket } : {}) };
  }

  #hand(
    full: string,
    { owner, persist }: Omit<Production, 'ticket'>,
    waiters: Waiter[],
  ): ClaimAnswer & { readonly ticket: number } {
    const ticket = this.#nextTicket++;
    this.#entries.set(full, { state: 'producing', ticket, owner, persist, waiters });
    return { state: 'produce', ticket };
  }

  #keep(full: string, value: unknown): void {
    const [extension = '', key = ''] = full.split('\0');
    this.#disk?.write(extension, key, value);
  }
}

function keyOf(extension: string, key: string): string {
  return `${extension}\0${key}`;
}
