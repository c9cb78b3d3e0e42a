import { abortError, type ErrorCode, ExtensionHostError, messageOf } from '../../../shared/errors.ts';
import type { Logger, PreparedProcess, ProcessNote, ProcessRequest } from '../../../shared/extension-api.ts';
import { isRecord, type JsonObject } from '../../../shared/json.ts';
import type { Limits } from '../../../shared/limits.ts';
import { LONGEST_TIMER_MS } from '../../../shared/longest-timer.ts';
import type { ServerConfig } from '../../../shared/mcp-options.ts';
import type { CallOutcome, Progress } from '../../../shared/tool.ts';
import type { Person } from '../requests/server-requests.ts';
import { seconds } from '../seconds.ts';
import { raceAbort } from './call/abort-race.ts';
import { CallLane } from './call/call-lane.ts';
import { type CallCounters, CallStatistics } from './call/call-statistics.ts';
import { OpenCall } from './call/open-call.ts';
import type { ClientPort } from './client/client-port.ts';
import { isServerError } from './client/message-tap.ts';
import type { RunningServer } from './launch/server-launch.ts';
import { deathText } from './process/death-text.ts';
import type { ProcessAdmission } from './process/process-admission.ts';
import { ServerSlot, type SlotStatus } from './server-slot.ts';

export type { CallCounters } from './call/call-statistics.ts';

const PING_MS = 2000;

export interface ConnectionOptions {
  readonly config: ServerConfig;
  /** Absent for a server of all sessions. */
  readonly sessionId?: string;
  /** Absolute: the session's cwd, or the agent dir. */
  readonly workspace: string;
  /** Whom the server's questions go to; absent = nobody. */
  readonly person?: Person;
  readonly prepare: (request: ProcessRequest) => Promise<PreparedProcess>;
  readonly readEnv: (name: string) => Promise<string | undefined>;
  readonly track: (note: ProcessNote) => void;
  readonly logger: Logger;
  readonly limits: Limits;
  readonly admission?: ProcessAdmission;
  /** Nothing is started before it has resolved: something else may still be in the way. */
  readonly after?: Promise<void>;
  /** Called after each start, before the first call on it. */
  readonly onStarted?: (client: ClientPort) => void;
}

export interface CallRequest {
  /** The tool's name at the server. */
  readonly tool: string;
  /** The name the model knows; it is the one in texts. */
  readonly exposedName: string;
  readonly arguments: JsonObject;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  /** Compared just before the write. */
  readonly expectEpoch?: string;
}

export type CallReply =
  | { readonly kind: 'answer'; readonly raw: unknown; readonly epoch: string }
  | {
      readonly kind: 'error';
      readonly code: ErrorCode;
      readonly message: string;
      readonly outcome: CallOutcome;
      readonly epoch?: string;
    };

/** A snapshot for /mcp. Texts are escaped and bounded, but not redacted. */
export interface ConnectionStatus extends SlotStatus {
  readonly counters: CallCounters;
}

/**
 * One server for one session: starts its process at the first call, keeps calls in line, and starts another one when the
 * last has died or been stopped. It never runs a call twice, unless the first time was provably not written.
 */
export class ServerConnection {
  #config: ServerConfig;
  readonly #slot: ServerSlot;
  readonly #lane: CallLane;
  readonly #statistics = new CallStatistics();
  readonly #open = new Set<OpenCall>();
  #idleTimer: NodeJS.Timeout | undefined;
  /** Of the last call's end. */
  #idleSince = performance.now();
  /** Calls that wait for a process. */
  #wanting = 0;

  constructor({ onStarted, admission, after, config, ...launch }: ConnectionOptions) {
    this.#config = config;
    this.#lane = new CallLane(config.parallel);
    this.#slot = new ServerSlot({
      launch: { ...launch, onAsking: () => this.#holdCalls() },
      config: () => this.#config,
      ...(admission === undefined ? {} : { admission }),
      ...(after === undefined ? {} : { after }),
      admitted: {
        idleSince: () => (this.#isIdle() ? this.#idleSince : undefined),
        giveUp: () => this.#stopIdle(),
      },
      onStarted: (client) => {
        try {
          onStarted?.(client);
        } catch (thrown) {
          launch.logger.warn({ server: config.name }, `after the start: ${messageOf(thrown)}`);
        }
        this.#waitIdle();
      },
    });
  }

  get config(): ServerConfig {
    return this.#config;
  }

  /**
   * Another configuration of the same server. Times and the width of the lane apply at once; when the process would be
   * started otherwise, the next call starts another one.
   */
  reconfigure(config: ServerConfig): void {
    this.#config = config;
    this.#lane.setParallel(config.parallel);
    this.#waitIdle();
  }

  /**
   * Runs one call. Whatever fails is a reply.
   * @throws ExtensionHostError ABORTED, at once; the server is told, and the next call waits for its late answer at most 2 s.
   */
  async call(request: CallRequest): Promise<CallReply> {
    this.#statistics.called();
    const reply = await this.#inLane(request);
    if (reply.kind === 'error' || (isRecord(reply.raw) && reply.raw['isError'] === true)) this.#statistics.failed();
    return reply;
  }

  status(): ConnectionStatus {
    return { ...this.#slot.status(), counters: this.#statistics.counters(this.#slot.starts) };
  }

  /**
   * Ends the process and every call; resolves when nothing of its tree is left. The next call starts a new one. A failure
   * is forgotten, but for the last error's text.
   * @param options - `timeoutMs` is the server's `shutdownTimeoutMs` by default.
   */
  async stop({ timeoutMs = this.config.shutdownTimeoutMs }: { readonly timeoutMs?: number } = {}): Promise<void> {
    clearTimeout(this.#idleTimer);
    this.#lane.clear(new ExtensionHostError('SESSION_CLOSED', `${this.config.name} MCP server was stopped`));
    const stopped = this.#slot.stop({ timeoutMs });
    for (const call of this.#open) call.interrupt();
    await stopped;
  }

  /** Ends it for good: later calls reply SESSION_CLOSED. Idempotent. */
  async dispose(options: { readonly timeoutMs?: number } = {}): Promise<void> {
    this.#slot.close();
    await this.stop(options);
  }

  async #inLane(request: CallRequest): Promise<CallReply> {
    clearTimeout(this.#idleTimer);
    let leave: () => void;
    try {
      leave = await this.#lane.enter(request.signal, request.exposedName);
    } catch (thrown) {
      return notSent(thrown);
    }
    // Held after an abort or a timeout, until the server is heard of.
    let held = Promise.resolve();
    const hold = (until: Promise<void>) => {
      held = until;
    };
    try {
      return await this.#run(request, hold);
    } finally {
      void held.then(() => {
        leave();
        this.#waitIdle();
      });
    }
  }

  async #run(request: CallRequest, hold: (until: Promise<void>) => void): Promise<CallReply> {
    for (let attempt = 1; ; attempt += 1) {
      let server: RunningServer;
      try {
        server = await this.#acquire(request);
      } catch (thrown) {
        return notSent(thrown);
      }
      if (request.signal.aborted) throw abortError(request.exposedName, request.signal);
      const { epoch } = server;
      if (request.expectEpoch !== undefined && request.expectEpoch !== epoch) {
        const text = `${request.exposedName} was not called: ${this.config.name} MCP server has been restarted, and the state it was meant for is lost`;
        return { kind: 'error', code: 'STATE_LOST', message: text, outcome: 'not-sent', epoch };
      }
      const call = new OpenCall(server, request, this.config);
      const reply = await this.#settle(call, server, request, hold);
      const neverWritten = reply.kind === 'error' && reply.code === 'SERVER_EXITED' && reply.outcome === 'not-sent';
      if (!neverWritten || attempt > 1) return reply;
    }
  }

  async #acquire({ signal, exposedName }: CallRequest): Promise<RunningServer> {
    // Calls that run at once may still be on a process that is to be replaced.
    if (this.#slot.isStale) await Promise.all([...this.#open].map((call) => call.ended));
    this.#wanting += 1;
    try {
      return await raceAbort(this.#slot.acquire(), signal, exposedName);
    } finally {
      this.#wanting -= 1;
      if (this.#wanting === 0) this.#slot.callOff();
    }
  }

  async #settle(
    call: OpenCall,
    server: RunningServer,
    request: CallRequest,
    hold: (until: Promise<void>) => void,
  ): Promise<CallReply> {
    this.#open.add(call);
    const end = await call.ended;
    this.#open.delete(call);
    const { epoch } = server;
    const { exposedName } = request;
    const error = (code: ErrorCode, message: string, outcome: CallOutcome): CallReply => {
      return { kind: 'error', code, message, outcome, epoch };
    };
    switch (end.kind) {
      case 'answered':
        this.#statistics.answered(end.durationMs);
        return { kind: 'answer', raw: end.raw, epoch };
      case 'aborted':
        hold(call.cancel());
        throw end.error;
      case 'expired':
        hold(this.#afterTimeout(call, server));
        return error('CALL_TIMEOUT', `${exposedName} timed out after ${seconds(end.limitMs)}s`, 'sent-unknown');
      case 'interrupted':
        return error(
          'SESSION_CLOSED',
          `${this.config.name} MCP server was stopped during ${exposedName}`,
          sentOrNot(call),
        );
      case 'failed': {
        if (end.error.code === 'SERVER_EXITED') {
          const text = deathText(this.config, await server.exited);
          return error('SERVER_EXITED', text, sentOrNot(call));
        }
        return error(end.error.code, end.error.message, isServerError(end.error) ? 'done' : sentOrNot(call));
      }
    }
  }

  /** Tells the server; if it is silent and nothing else is in flight, asks whether it lives at all. */
  async #afterTimeout(call: OpenCall, server: RunningServer): Promise<void> {
    const heard = call.cancel();
    const alone = this.#lane.active === 1;
    const lives = alone ? await Promise.race([call.provesLife(), answersPing(server)]) : true;
    await heard;
    if (lives || !this.#slot.holds(server)) return;
    const { name, shutdownTimeoutMs } = this.config;
    const because = `${name} MCP server did not answer a ping after a call had timed out, and was stopped`;
    // Only begun here: the next call waits for its end.
    void this.#slot.stop({ timeoutMs: shutdownTimeoutMs, because, hook: false });
  }

  /** The server asks a person: which call it does that for, it does not say. */
  #holdCalls(): () => void {
    const releases = [...this.#open].map((call) => call.hold());
    return () => {
      for (const release of releases) release();
    };
  }

  #waitIdle(): void {
    clearTimeout(this.#idleTimer);
    const { idleTimeoutMs } = this.config;
    if (!this.#isIdle()) return;
    this.#idleSince = performance.now();
    if (idleTimeoutMs === 0) return;
    this.#idleTimer = setTimeout(() => this.#stopIdle(), Math.min(idleTimeoutMs, LONGEST_TIMER_MS)).unref();
  }

  /** Looks once more: a call may have come meanwhile. */
  #stopIdle(): void {
    if (this.#isIdle()) void this.#slot.stop({ timeoutMs: this.config.shutdownTimeoutMs });
  }

  #isIdle(): boolean {
    return this.#lane.isEmpty && this.#slot.state === 'running';
  }
}

async function answersPing({ client }: RunningServer): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const silent = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), PING_MS);
  });
  const answered = client.ping().then(
    () => true,
    () => false,
  );
  const lives = await Promise.race([answered, silent]);
  clearTimeout(timer);
  return lives;
}

function sentOrNot(call: OpenCall): CallOutcome {
  return call.sent ? 'sent-unknown' : 'not-sent';
}

/** A start that failed, or a stop that came before the write. An abort stays a throw. */
function notSent(thrown: unknown): CallReply {
  if (!(thrown instanceof ExtensionHostError)) {
    return { kind: 'error', code: 'SERVER_START_FAILED', message: messageOf(thrown), outcome: 'not-sent' };
  }
  if (thrown.code === 'ABORTED') throw thrown;
  return { kind: 'error', code: thrown.code, message: thrown.message, outcome: 'not-sent' };
}
