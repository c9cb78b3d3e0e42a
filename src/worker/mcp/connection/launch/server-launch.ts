import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ExtensionHostError } from '../../../../shared/errors.ts';
import type { Logger, PreparedProcess, ProcessNote, ProcessRequest } from '../../../../shared/extension-api.ts';
import type { Limits } from '../../../../shared/limits.ts';
import type { ServerConfig } from '../../../../shared/mcp-options.ts';
import { BROWSER_FOLDER } from '../../../../shared/playwright-preset.ts';
import { expandPlaceholders } from '../../config/placeholders.ts';
import { type Person, serverRequests } from '../../requests/server-requests.ts';
import type { ClientPort, RequestHandler, ServerInfo } from '../client/client-port.ts';
import { loadSdk, SdkClient } from '../client/sdk-client.ts';
import type { ExitReport } from '../process/exit-report.ts';
import { ServerLog } from '../process/server-log.ts';
import type { ServerProcess } from '../process/server-process.ts';
import { spawnServer } from '../process/spawn-server.ts';
import { StdioTransport } from '../wire/stdio-transport.ts';
import { StartDeadline } from './start-deadline.ts';
import { ExitedAtStartError, toStartError } from './start-error.ts';

export type { ExitReport } from '../process/exit-report.ts';

/** What has been spawned for a start that fails gets no longer to end. */
const FAILED_START_STOP_MS = 1000;

export interface LaunchRequest {
  readonly config: ServerConfig;
  /** Absolute: what `${workspace}` is, and the cwd unless the entry has one. */
  readonly workspace: string;
  /** Absent for a discovery, and for a server of all sessions. */
  readonly sessionId?: string;
  /** True when only the list of tools is wanted: such a process has no state to save. */
  readonly discovers?: boolean;
  /** Whom the server's questions go to; absent = nobody. */
  readonly person?: Person;
  /** Somebody is being asked by the server; what it returns is called when that is over. */
  readonly onAsking?: () => () => void;
  readonly prepare: (request: ProcessRequest) => Promise<PreparedProcess>;
  readonly readEnv: (name: string) => Promise<string | undefined>;
  readonly track: (note: ProcessNote) => void;
  readonly logger: Logger;
  readonly limits: Limits;
  /** Gives the start up; what has been spawned is ended behind. */
  readonly signal?: AbortSignal;
  /** Called when a start fails after the spawn; resolves when nothing of the process tree is left. */
  readonly onLeftover?: (gone: Promise<void>) => void;
}

export interface RunningServer {
  readonly client: ClientPort;
  readonly info: ServerInfo;
  /** The `id` of its PreparedProcess. */
  readonly epoch: string;
  readonly pid: number;
  /** Resolves when the server can answer no more, whoever ended it. Its tree may still be on its way out: see `stop`. */
  readonly exited: Promise<ExitReport>;
  /** The last lines of stderr, bounded, control characters escaped. */
  stderrTail(): string;
  /** Lines on stdout that were no protocol, so far. */
  readonly noiseLines: number;
  /**
   * Ends the process and everything it started; resolves when nothing is left. Idempotent: a second call waits for the same
   * end and can only shorten it. After an exit it waits for the clean-up alone. `hook: false` leaves out the stop tool.
   */
  stop(options: { readonly timeoutMs: number; readonly hook?: boolean }): Promise<void>;
}

/**
 * Starts one server: expand, prepare, spawn, handshake, all within `config.startupTimeoutMs`.
 * @throws ExtensionHostError SERVER_START_FAILED with the exit code or the timeout and the stderr tail; ABORTED.
 */
export async function launchServer(request: LaunchRequest): Promise<RunningServer> {
  const launch = new Launch(request);
  try {
    return await launch.run();
  } catch (thrown) {
    throw launch.fail(thrown);
  } finally {
    launch.deadline.clear();
  }
}

class Launch {
  readonly deadline: StartDeadline;
  readonly #request: LaunchRequest;
  #spawn: Promise<ServerProcess> | undefined;
  #server: ServerProcess | undefined;

  constructor(request: LaunchRequest) {
    const { config, signal } = request;
    this.#request = request;
    this.deadline = new StartDeadline(`starting ${config.name}`, config.startupTimeoutMs, signal);
  }

  run(): Promise<RunningServer> {
    return Promise.race([this.#start(), this.deadline.over]);
  }

  /** Gives up: ends what has been spawned, or will have been when the spawn under way is through. */
  fail(thrown: unknown): ExtensionHostError {
    const { name, command, args, startupTimeoutMs } = this.#request.config;
    const exit = thrown instanceof ExitedAtStartError ? thrown.report.stderrTail : undefined;
    const stderrTail = exit ?? this.#server?.log.stderrTail() ?? '';
    this.#endLeftover();
    return toStartError(thrown, { name, command, args, startupTimeoutMs, stderrTail });
  }

  async #start(): Promise<RunningServer> {
    const { config, workspace, sessionId, prepare, readEnv, track, logger, limits } = this.#request;
    const { name } = config;
    this.deadline.check();
    // Beside the spawn: its first use costs 164 ms of CPU.
    loadSdk().catch(() => {});
    const expanded = await expandPlaceholders(config, workspace, readEnv);
    const prepared = await prepare({ purpose: 'mcp-server', origin: name, ...expanded });
    if (config.preset === 'playwright' && this.#request.discovers !== true) await makeBrowserFolder(workspace);
    this.deadline.check();
    const log = new ServerLog(config, logger, limits);
    const note = { server: name, ...(sessionId === undefined ? {} : { sessionId }) };
    this.#spawn = spawnServer(prepared, { log, track, note });
    const server = await this.#spawn;
    this.#server = server;
    this.deadline.check();
    const client = new SdkClient(new StdioTransport(server, limits), { name, onLog: (text) => log.notice(text) });
    client.onRequest = this.#requests();
    const info = await connect(client, server);
    server.observe();
    const { stopTool } = config;
    if (stopTool !== null && !this.#request.discovers) server.stopHook = () => callStopTool(client, stopTool);
    return running(server, client, info, prepared.id);
  }

  /** A server of all sessions has no workspace to work in. */
  #requests(): RequestHandler {
    const { config, workspace, sessionId, discovers, person, onAsking = () => () => {} } = this.#request;
    const roots = sessionId === undefined && discovers !== true ? [] : [workspace];
    return serverRequests({ server: config.name, roots, onAsking, ...(person === undefined ? {} : { person }) });
  }

  /** Told at once, also of a spawn under way: whoever starts the next one has to wait for the end of this one. */
  #endLeftover(): void {
    const { config, onLeftover } = this.#request;
    const timeoutMs = Math.min(config.shutdownTimeoutMs, FAILED_START_STOP_MS);
    const gone = this.#spawn?.then(
      (server) => server.stop({ timeoutMs }),
      () => undefined,
    );
    if (gone) onLeftover?.(gone);
  }
}

/** The server refuses a file name in a folder that is not there. */
async function makeBrowserFolder(workspace: string): Promise<void> {
  await mkdir(join(workspace, BROWSER_FOLDER), { recursive: true });
}

async function callStopTool(client: ClientPort, tool: string): Promise<void> {
  await client.call({ tool, arguments: {}, onProgress: () => {} }).answer;
}

async function connect(client: ClientPort, server: ServerProcess): Promise<ServerInfo> {
  try {
    return await client.connect();
  } catch (thrown) {
    const exited = thrown instanceof ExtensionHostError && thrown.code === 'SERVER_EXITED';
    // One that ended before the handshake began leaves the library with a closed transport and no reason.
    const report = exited ? await server.ended : await Promise.race([server.ended, setImmediate(undefined)]);
    throw report === undefined ? thrown : new ExitedAtStartError(report);
  }
}

function running(server: ServerProcess, client: ClientPort, info: ServerInfo, epoch: string): RunningServer {
  return {
    client,
    info,
    epoch,
    pid: server.pid,
    exited: server.ended,
    get noiseLines() {
      return server.log.noiseLines;
    },
    stderrTail: () => server.log.stderrTail(),
    stop: (options) => server.stop(options),
  };
}
