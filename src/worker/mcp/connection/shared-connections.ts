import type { ServerConfig } from '../../../shared/mcp-options.ts';
import { leaseFingerprint } from '../config/fingerprint.ts';
import type { ServerConnection } from './server-connection.ts';

interface Shared<User> {
  readonly key: string;
  readonly connection: ServerConnection;
  readonly users: Set<User>;
}

/** One session's hold on a connection that it shares with others. */
export interface SharedHold<User> {
  readonly connection: ServerConnection;
  /** Everybody who holds it now. */
  readonly users: ReadonlySet<User>;
  /** Lets go of it; the last one to do so ends the process. */
  release(timeoutMs?: number): Promise<void>;
}

/** The connections of servers with `scope: "host"`: one process and one queue for all sessions of the thread. */
export class SharedConnections<User> {
  readonly #all = new Map<string, Shared<User>>();

  /** `create` is called when nobody holds a connection of this server yet. */
  hold(config: ServerConfig, user: User, create: (users: ReadonlySet<User>) => ServerConnection): SharedHold<User> {
    const key = keyOf(config);
    let shared = this.#all.get(key);
    if (!shared) {
      const users = new Set<User>();
      shared = { key, connection: create(users), users };
      this.#all.set(key, shared);
    }
    const { connection, users } = shared;
    users.add(user);
    return { connection, users, release: (timeoutMs) => this.#release(shared, user, timeoutMs) };
  }

  /** The connection of a server, if anybody holds it. */
  find(config: ServerConfig): ServerConnection | undefined {
    return this.#all.get(keyOf(config))?.connection;
  }

  async #release({ key, connection, users }: Shared<User>, user: User, timeoutMs: number | undefined): Promise<void> {
    if (!users.delete(user) || users.size > 0) return;
    this.#all.delete(key);
    await connection.dispose(timeoutMs === undefined ? {} : { timeoutMs });
  }
}

function keyOf(config: ServerConfig): string {
  return `${config.name}\0${leaseFingerprint(config)}`;
}
