/**
 * A runtime pool over real processes, and a watch over who owns them. The counting server says for whom and as what it was
 * started; the bench notes each start and end, and lists every breach of the pool's promises.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger, ProcessNote } from '../../src/shared/extension-api.ts';
import { DEFAULT_LIMITS } from '../../src/shared/limits.ts';
import type { ServerConfig } from '../../src/shared/mcp-options.ts';
import { type Lease, RuntimePool } from '../../src/worker/mcp/connection/runtime-pool.ts';
import { type CallReply, ServerConnection } from '../../src/worker/mcp/connection/server-connection.ts';
import { isAlive } from './processes.ts';

const SERVER = fileURLToPath(new URL('../fixtures/wire/counting-server.sh', import.meta.url));

export type ServerName = 'own' | 'shared' | 'wide';
export const SERVER_NAMES: readonly ServerName[] = ['own', 'shared', 'wide'];

/** `own` stops when idle for 10 ms, `shared` is one for all sessions, `wide` takes calls at once. */
function configOf(name: ServerName, version: string): ServerConfig {
  return {
    name,
    enabled: true,
    command: '/bin/sh',
    args: [SERVER, version],
    cwd: null,
    env: {},
    toolPrefix: '',
    parallel: name === 'wide',
    startupTimeoutMs: 15_000,
    callTimeoutMs: 15_000,
    maxCallMs: 60_000,
    idleTimeoutMs: name === 'own' ? 10 : 0,
    shutdownTimeoutMs: 2000,
    stderrLevel: 'warn',
    scope: name === 'shared' ? 'host' : 'session',
    stopTool: null,
    promptSection: null,
    tools: { include: ['*'], exclude: [] },
    preset: null,
  };
}

/** Long enough for a start. */
const CRASH_WAIT_MS = 100;

interface Started {
  /** Whose it is: one opening of a session, and the server; or the server alone, where it is for all. */
  readonly scope: string;
  /** Which lease it was started under. */
  readonly lease: ServerConnection;
  readonly pid: number;
}

/** One opening of a session: its user object in the pool for each server, as the extension has one. */
class BenchSession {
  readonly id: string;
  readonly #bench: PoolBench;
  readonly #opening: number;
  readonly #leases = new Map<ServerName, Lease<BenchSession>>();
  readonly #versions: Map<ServerName, string>;
  closed = false;

  constructor(bench: PoolBench, id: string, opening: number, versions: ReadonlyMap<ServerName, string>) {
    this.#bench = bench;
    this.id = id;
    this.#opening = opening;
    this.#versions = new Map(versions);
  }

  connection(server: ServerName): ServerConnection | undefined {
    return this.#leases.get(server)?.connection;
  }

  async call(server: ServerName, expectEpoch: string | undefined): Promise<void> {
    if (this.closed) return;
    const lease = this.#lease(server);
    const scope = this.#scopeOf(server);
    const leastVersion = Number(this.#versions.get(server));
    const reply = await lease.connection.call({
      tool: 'count',
      exposedName: 'count',
      arguments: {},
      signal: new AbortController().signal,
      onProgress: () => {},
      ...(expectEpoch === undefined ? {} : { expectEpoch }),
    });
    this.#bench.check(reply, { connection: lease.connection, scope, leastVersion, expectEpoch });
  }

  reconfigure(server: ServerName, version: string): void {
    if (this.closed) return;
    this.#versions.set(server, version);
    this.#leases.get(server)?.connection.reconfigure(configOf(server, version));
  }

  async close(): Promise<void> {
    this.closed = true;
    const leases = [...this.#leases.values()];
    this.#leases.clear();
    await Promise.all(
      leases.map(async (lease) => {
        // Of what is shared, others may hold the process still.
        const isLast = lease.users.size === 1;
        await lease.release();
        if (isLast) this.#bench.checkGone(lease.connection, `the end of its lease (${this.id})`);
      }),
    );
  }

  #scopeOf(server: ServerName): string {
    return server === 'shared' ? server : `${this.id}.${this.#opening}/${server}`;
  }

  #lease(server: ServerName): Lease<BenchSession> {
    const known = this.#leases.get(server);
    if (known) return known;
    const config = configOf(server, this.#versions.get(server) ?? '0');
    const place = server === 'shared' ? server : `${this.id}/${server}`;
    const lease = this.#bench.pool.lease({ config, sessionId: this.id, user: this }, (_users, after) =>
      this.#bench.connect(config, after, this.#scopeOf(server), place),
    );
    lease.connection.reconfigure(config);
    this.#leases.set(server, lease);
    return lease;
  }
}

export class PoolBench {
  readonly pool = new RuntimePool<BenchSession>();
  readonly breaches: string[] = [];
  /** What happened, so that a run that saw no crash does not count as proof. */
  readonly seen = { starts: 0, answers: 0, lost: 0, deaths: 0 };
  readonly #sessions = new Map<number, BenchSession>();
  readonly #versions = new Map<ServerName, string>(SERVER_NAMES.map((name) => [name, '0']));
  readonly #started: Started[] = [];
  readonly #scopeOfEpoch = new Map<string, string>();
  /** The epoch of each connection's last answer. */
  readonly #epochSeen = new Map<ServerConnection, string>();
  /** Processes that live now, by what no two of them may use at once: the workspace of a session, say. */
  readonly #living = new Map<string, Set<number>>();
  readonly #pending = new Set<Promise<void>>();
  #epochs = 0;
  #openings = 0;

  /** The session in a seat, opened if need be; a closed one is followed by another of the same id. */
  session(seat: number): BenchSession {
    let session = this.#sessions.get(seat);
    if (!session || session.closed) {
      this.#openings += 1;
      session = new BenchSession(this, `session-${seat}`, this.#openings, this.#versions);
      this.#sessions.set(seat, session);
    }
    return session;
  }

  /** Begins something and does not wait for it. */
  begin(work: Promise<void>): void {
    const settled = work
      .catch((error: unknown) => void this.breaches.push(`threw: ${String(error)}`))
      .finally(() => this.#pending.delete(settled));
    this.#pending.add(settled);
  }

  async settle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /** Kills the process that runs for a session, or the one that is just being started. */
  async crash(seat: number, server: ServerName): Promise<void> {
    const connection = this.session(seat).connection(server);
    const until = performance.now() + CRASH_WAIT_MS;
    while (connection?.status().state === 'starting' && performance.now() < until) await delay(1);
    const pid = connection?.status().pid;
    if (pid === undefined) return;
    this.seen.deaths += 1;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It was just ending.
    }
  }

  /** The operator changes a server; each session hears of it for itself. */
  change(server: ServerName): void {
    const version = String(Number(this.#versions.get(server)) + 1);
    this.#versions.set(server, version);
    for (const session of this.#sessions.values()) session.reconfigure(server, version);
  }

  async end(): Promise<void> {
    await this.settle();
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
    await this.settle();
    if (this.pool.size > 0) this.breaches.push(`the pool still holds ${this.pool.size} connections`);
    for (const { scope, pid } of this.#started) if (isAlive(pid)) this.breaches.push(`${pid} of ${scope} is left`);
  }

  connect(config: ServerConfig, after: Promise<void>, scope: string, place: string): ServerConnection {
    const connection: ServerConnection = new ServerConnection({
      config,
      after,
      workspace: '/',
      prepare: (request) => {
        this.#epochs += 1;
        const id = `epoch-${this.#epochs}`;
        this.#scopeOfEpoch.set(id, scope);
        return Promise.resolve({ ...request, env: { OWNER: scope, EPOCH: id }, id });
      },
      readEnv: () => Promise.resolve(undefined),
      track: (note) => this.#note({ scope, lease: connection, pid: note.pid }, place, note.state),
      logger: SILENT,
      limits: DEFAULT_LIMITS,
    });
    return connection;
  }

  /** The epoch of a session's last answer from a server. */
  epochSeen(seat: number, server: ServerName): string | undefined {
    const connection = this.session(seat).connection(server);
    return connection === undefined ? undefined : this.#epochSeen.get(connection);
  }

  check(reply: CallReply, { connection, scope, leastVersion, expectEpoch }: Asked): void {
    const breach = (what: string): void => void this.breaches.push(`${scope}: ${what}`);
    if (reply.kind === 'error') {
      if (reply.code === 'STATE_LOST') {
        this.seen.lost += 1;
        if (reply.epoch === expectEpoch) breach('state_lost on the epoch that was expected');
      } else if (reply.code !== 'SERVER_EXITED' && reply.code !== 'SESSION_CLOSED' && !atStart(reply)) {
        breach(`${reply.code} ${reply.message}`);
      }
      return;
    }
    this.seen.answers += 1;
    this.#epochSeen.set(connection, reply.epoch);
    const { content } = reply.raw as { content: readonly { text: string }[] };
    const [owner, epoch = '', version, pid] = content[0]?.text.split(' ') ?? [];
    if (owner !== scope) breach(`was answered by the process of ${String(owner)}`);
    if (epoch !== reply.epoch) breach(`the answer of ${epoch} was given as of ${reply.epoch}`);
    if (this.#scopeOfEpoch.get(epoch) !== scope) breach(`was answered by ${epoch}, not its own`);
    if (expectEpoch !== undefined && expectEpoch !== epoch) breach(`${epoch} answered for ${expectEpoch}`);
    if (Number(version) < leastVersion) breach(`version ${String(version)} answered after ${leastVersion} was set`);
    const known = this.#started.some((one) => one.pid === Number(pid) && one.scope === scope);
    if (!known) breach(`was answered by ${String(pid)}, which was not started for it`);
  }

  checkGone(lease: ServerConnection, when: string): void {
    for (const started of this.#started) {
      if (started.lease === lease && isAlive(started.pid)) {
        this.breaches.push(`${started.pid} of ${started.scope} outlives ${when}`);
      }
    }
  }

  #note(started: Started, place: string, state: ProcessNote['state']): void {
    const { pid } = started;
    const living = this.#living.get(place) ?? new Set();
    this.#living.set(place, living);
    if (state === 'exited') {
      living.delete(pid);
      return;
    }
    this.seen.starts += 1;
    for (const other of living) if (isAlive(other)) this.breaches.push(`${pid} started beside ${other} in ${place}`);
    living.add(pid);
    this.#started.push(started);
  }
}

/** What a session asked, and what it may expect. */
interface Asked {
  readonly connection: ServerConnection;
  readonly scope: string;
  readonly leastVersion: number;
  readonly expectEpoch: string | undefined;
}

/** A process that was killed before its handshake was through. */
function atStart(reply: CallReply): boolean {
  return reply.kind === 'error' && reply.code === 'SERVER_START_FAILED' && reply.outcome === 'not-sent';
}

const nothing = (): void => {};
const SILENT: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
