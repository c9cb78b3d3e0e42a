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
  readonly owner: string;
  readonly pid: number;
}

/** One session: its user object in the pool for each server, as the extension has one. */
class BenchSession {
  readonly id: string;
  readonly #bench: PoolBench;
  readonly #leases = new Map<ServerName, Lease<BenchSession>>();
  readonly #versions: Map<ServerName, string>;
  closed = false;

  constructor(bench: PoolBench, id: string, versions: ReadonlyMap<ServerName, string>) {
    this.#bench = bench;
    this.id = id;
    this.#versions = new Map(versions);
  }

  connection(server: ServerName): ServerConnection | undefined {
    return this.#leases.get(server)?.connection;
  }

  async call(server: ServerName, expectEpoch: string | undefined): Promise<void> {
    if (this.closed) return;
    const lease = this.#lease(server);
    const reply = await lease.connection.call({
      tool: 'count',
      exposedName: 'count',
      arguments: {},
      signal: new AbortController().signal,
      onProgress: () => {},
      ...(expectEpoch === undefined ? {} : { expectEpoch }),
    });
    this.#bench.check(reply, lease.connection, expectEpoch);
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
        const owner = this.#bench.ownerOf(lease.connection);
        // Of what is shared, others may hold the process still.
        const isLast = lease.users.size === 1;
        await lease.release();
        if (isLast) this.#bench.checkGone(owner, `the end of its lease (session ${this.id})`);
      }),
    );
  }

  #lease(server: ServerName): Lease<BenchSession> {
    const known = this.#leases.get(server);
    if (known) return known;
    const config = configOf(server, this.#versions.get(server) ?? '0');
    const lease = this.#bench.pool.lease({ config, sessionId: this.id, user: this }, (_users, after) =>
      this.#bench.connect(config, after),
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
  readonly #owners = new Map<ServerConnection, string>();
  readonly #started: Started[] = [];
  readonly #ownerOfEpoch = new Map<string, string>();
  /** The epoch of each connection's last answer. */
  readonly #epochSeen = new Map<ServerConnection, string>();
  /** Processes that live now, by the server (and session) they are for. */
  readonly #living = new Map<string, Set<number>>();
  readonly #pending = new Set<Promise<void>>();
  #epochs = 0;
  #leases = 0;

  /** The session in a seat, opened if need be; a closed one is followed by another of the same id. */
  session(seat: number): BenchSession {
    let session = this.#sessions.get(seat);
    if (!session || session.closed) {
      session = new BenchSession(this, `session-${seat}`, this.#versions);
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
    for (const { owner, pid } of this.#started) if (isAlive(pid)) this.breaches.push(`${pid} of ${owner} is left`);
  }

  connect(config: ServerConfig, after: Promise<void>): ServerConnection {
    this.#leases += 1;
    const owner = `lease-${this.#leases}`;
    // One directory, say: what must not be used by two processes at once.
    const place = config.scope === 'host' ? config.name : `${owner}/${config.name}`;
    const connection = new ServerConnection({
      config,
      after,
      workspace: '/',
      prepare: (request) => {
        this.#epochs += 1;
        const id = `epoch-${this.#epochs}`;
        this.#ownerOfEpoch.set(id, owner);
        return Promise.resolve({ ...request, env: { OWNER: owner, EPOCH: id }, id });
      },
      readEnv: () => Promise.resolve(undefined),
      track: (note) => this.#note(owner, place, note),
      logger: SILENT,
      limits: DEFAULT_LIMITS,
    });
    this.#owners.set(connection, owner);
    return connection;
  }

  ownerOf(connection: ServerConnection): string {
    return this.#owners.get(connection) ?? 'nobody';
  }

  /** The epoch of a session's last answer from a server. */
  epochSeen(seat: number, server: ServerName): string | undefined {
    const connection = this.session(seat).connection(server);
    return connection === undefined ? undefined : this.#epochSeen.get(connection);
  }

  check(reply: CallReply, connection: ServerConnection, expectEpoch: string | undefined): void {
    const owner = this.ownerOf(connection);
    if (reply.kind === 'error') {
      if (reply.code === 'STATE_LOST') {
        this.seen.lost += 1;
        if (reply.epoch === expectEpoch) this.breaches.push(`${owner}: state_lost on the epoch that was expected`);
      } else if (reply.code !== 'SERVER_EXITED' && reply.code !== 'SESSION_CLOSED' && !atStart(reply)) {
        this.breaches.push(`${owner}: ${reply.code} ${reply.message}`);
      }
      return;
    }
    this.seen.answers += 1;
    this.#epochSeen.set(connection, reply.epoch);
    const { content } = reply.raw as { content: readonly { text: string }[] };
    const [saysOwner, epoch = '', , pid = ''] = content[0]?.text.split(' ') ?? [];
    if (saysOwner !== owner) this.breaches.push(`${owner} was answered by the process of ${saysOwner}`);
    if (epoch !== reply.epoch) this.breaches.push(`${owner}: the answer of ${epoch} was given as of ${reply.epoch}`);
    if (this.#ownerOfEpoch.get(epoch) !== owner) this.breaches.push(`${owner} was answered by ${epoch}, not its own`);
    if (expectEpoch !== undefined && expectEpoch !== epoch) this.breaches.push(`${owner}: ${epoch} for ${expectEpoch}`);
    const known = this.#started.find((one) => one.pid === Number(pid) && one.owner === owner);
    if (!known) this.breaches.push(`${owner} was answered by ${pid}, which was not started for it`);
  }

  checkGone(owner: string, when: string): void {
    for (const started of this.#started) {
      if (started.owner === owner && isAlive(started.pid)) this.breaches.push(`${started.pid} outlives ${when}`);
    }
  }

  #note(owner: string, place: string, { pid, state }: ProcessNote): void {
    const living = this.#living.get(place) ?? new Set();
    this.#living.set(place, living);
    if (state === 'exited') {
      living.delete(pid);
      return;
    }
    this.seen.starts += 1;
    for (const other of living) if (isAlive(other)) this.breaches.push(`${pid} started beside ${other} in ${place}`);
    living.add(pid);
    this.#started.push({ owner, pid });
  }
}

/** A process that was killed before its handshake was through. */
function atStart(reply: CallReply): boolean {
  return reply.kind === 'error' && reply.code === 'SERVER_START_FAILED' && reply.outcome === 'not-sent';
}

const nothing = (): void => {};
const SILENT: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
