import type { ServerConfig } from '../../../shared/mcp-options.ts';
import type { ServerConnection } from './server-connection.ts';

/** Who asks for a process. */
export interface LeaseRequest<User> {
  readonly config: ServerConfig;
  readonly sessionId: string;
  /** The session's own server object: nobody else is ever given its lease of scope `session`. */
  readonly user: User;
}

/**
 * Makes the connection of a new lease. `users` is everybody who holds it, as it is at any time; nothing may be started before
 * `after` has resolved.
 */
export type Connect<User> = (users: ReadonlySet<User>, after: Promise<void>) => ServerConnection;

/** A hold on the one live connection of its key. */
export interface Lease<User> {
  readonly connection: ServerConnection;
  /** Everybody who holds it now: one, unless the scope is `host`. */
  readonly users: ReadonlySet<User>;
  /**
   * Lets go of it; the last one to do so ends the process, and this resolves when nothing is left of it. Idempotent.
   * @param timeoutMs - The server's `shutdownTimeoutMs` by default.
   */
  release(timeoutMs?: number): Promise<void>;
}

interface Entry<User> {
  readonly place: string;
  readonly connection: ServerConnection;
  readonly users: Set<User>;
}

/**
 * The one place where the connections of a thread live, for chats and workflow runs alike. A lease key is scope and server:
 * `session` leases are their session's alone, a `host` lease is shared by all who ask for it. Each connection holds at most
 * one process; a changed fingerprint ends it before the next one starts, a dead one is followed by another at the next call,
 * and nothing starts in a place before the last one there is gone (two browsers on one profile refuse each other).
 */
export class RuntimePool<User> {
  readonly #shared = new Map<string, Entry<User>>();
  readonly #all = new Set<Entry<User>>();
  /** By place: resolves when nothing is left of the leases that have ended. */
  readonly #ending = new Map<string, Promise<void>>();

  /** How many connections are held. */
  get size(): number {
    return this.#all.size;
  }

  /** `connect` is called unless somebody holds the shared connection already. */
  lease({ config, sessionId, user }: LeaseRequest<User>, connect: Connect<User>): Lease<User> {
    const place = placeOf(config, sessionId);
    let entry = config.scope === 'host' ? this.#shared.get(place) : undefined;
    if (!entry) {
      const users = new Set<User>();
      entry = { place, users, connection: connect(users, this.#ending.get(place) ?? Promise.resolve()) };
      this.#all.add(entry);
      if (config.scope === 'host') this.#shared.set(place, entry);
    }
    const held = entry;
    held.users.add(user);
    return {
      connection: held.connection,
      users: held.users,
      release: (timeoutMs) => this.#release(held, user, timeoutMs),
    };
  }

  /** The shared connection of a server, if anybody holds it. */
  findShared(config: ServerConfig): ServerConnection | undefined {
    return this.#shared.get(placeOf(config, ''))?.connection;
  }

  async #release(entry: Entry<User>, user: User, timeoutMs: number | undefined): Promise<void> {
    const { place, connection, users } = entry;
    users.delete(user);
    if (users.size > 0) return;
    if (this.#all.delete(entry)) {
      if (this.#shared.get(place) === entry) this.#shared.delete(place);
      const before = this.#ending.get(place) ?? Promise.resolve();
      const gone = connection.dispose(bounds(timeoutMs));
      const ended = Promise.allSettled([before, gone]).then(() => {
        if (this.#ending.get(place) === ended) this.#ending.delete(place);
      });
      this.#ending.set(place, ended);
    }
    // A second call can only shorten the first.
    await connection.dispose(bounds(timeoutMs));
  }
}

function placeOf({ name, scope }: ServerConfig, sessionId: string): string {
  return JSON.stringify(scope === 'host' ? [name] : [name, sessionId]);
}

function bounds(timeoutMs: number | undefined): { readonly timeoutMs?: number } {
  return timeoutMs === undefined ? {} : { timeoutMs };
}
