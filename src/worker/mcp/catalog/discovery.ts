import { ExtensionHostError, messageOf } from '../../../shared/errors.ts';
import type { ServerConfig } from '../../../shared/mcp-options.ts';
import { type LaunchRequest, launchServer, type RunningServer } from '../connection/launch/server-launch.ts';
import { StartDeadline } from '../connection/launch/start-deadline.ts';
import { ExitedAtStartError, toStartError } from '../connection/launch/start-error.ts';
import type { Catalog } from './catalog.ts';
import { createDiscoveryFolder, removeDiscoveryFolder } from './discovery-folder.ts';
import { listTools } from './list-tools.ts';

/** What a discovery needs of the extension. It belongs to no session. */
export type DiscoveryServices = Pick<LaunchRequest, 'prepare' | 'readEnv' | 'track' | 'logger' | 'limits'>;

/** What goes on behind a discovery that has answered: the end of its processes, then of its folder. */
export interface DiscoveryCleanup {
  /** Never rejects. */
  readonly done: Promise<void>;
  /** Asks for an end within this time; it can only shorten the one under way. */
  hasten(timeoutMs: number): void;
}

/**
 * Starts a server in a temporary folder, asks for its tools and ends it again. Answers as soon as the list is complete, and
 * gives the cleaning up to `onCleanup`, after a failure too. `startupTimeoutMs` covers start, handshake and listing.
 * @throws SERVER_START_FAILED with the exit code or the timeout and the tail of stderr; ABORTED
 */
export async function discover(
  config: ServerConfig,
  services: DiscoveryServices,
  { signal, onCleanup }: { readonly signal: AbortSignal; readonly onCleanup: (cleanup: DiscoveryCleanup) => void },
): Promise<Catalog> {
  const { name, startupTimeoutMs } = config;
  const deadline = performance.now() + startupTimeoutMs;
  const folder = await createDiscoveryFolder().catch((error: unknown) => {
    const why = `${name} MCP server could not be discovered: there is no temporary folder for it: ${messageOf(error)}`;
    throw new ExtensionHostError('SERVER_START_FAILED', why, { cause: error });
  });
  const leftovers: Promise<void>[] = [];
  const onLeftover = (gone: Promise<void>): void => void leftovers.push(gone);
  let server: RunningServer | undefined;
  try {
    server = await launchServer({ ...services, config, workspace: folder, discovers: true, signal, onLeftover });
    return await listWithin(server, config, services, { signal, timeoutMs: deadline - performance.now() });
  } finally {
    onCleanup(cleanUp(folder, config, services, server, leftovers));
  }
}

/** The whole listing against the clock, an abort and the end of the process. */
async function listWithin(
  server: RunningServer,
  config: ServerConfig,
  { limits }: DiscoveryServices,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<Catalog> {
  const { name, toolPrefix } = config;
  const deadline = new StartDeadline(`listing the tools of ${name}`, Math.max(1, timeoutMs), signal);
  const listing = listTools(server.client, server.info, { server: name, toolPrefix, limits });
  try {
    return await Promise.race([listing, deadline.over]);
  } catch (thrown) {
    throw toStartError(await causeOf(thrown, server), { ...config, stderrTail: server.stderrTail() });
  } finally {
    deadline.clear();
  }
}

/** An exit explains more than the broken pipe it leaves behind. */
async function causeOf(thrown: unknown, server: RunningServer): Promise<unknown> {
  if (!(thrown instanceof ExtensionHostError)) return thrown;
  if (thrown.code === 'SERVER_EXITED') return new ExitedAtStartError(await server.exited);
  return thrown.code === 'ABORTED' ? thrown : new Error(`its tools cannot be listed: ${thrown.message}`);
}

function cleanUp(
  folder: string,
  { name, shutdownTimeoutMs }: ServerConfig,
  { logger }: DiscoveryServices,
  server: RunningServer | undefined,
  leftovers: readonly Promise<void>[],
): DiscoveryCleanup {
  const gone = server === undefined ? Promise.all(leftovers) : server.stop({ timeoutMs: shutdownTimeoutMs });
  const warn = (error: unknown): void => {
    logger.warn(
      { server: name },
      `${name} MCP server could not be ended cleanly after its discovery: ${messageOf(error)}`,
    );
  };
  return {
    done: Promise.resolve(gone)
      .then(() => {}, warn)
      .then(() => removeDiscoveryFolder(folder, logger)),
    hasten: (timeoutMs) => {
      // Whether it worked is told through `done`.
      server?.stop({ timeoutMs }).catch(() => {});
    },
  };
}
