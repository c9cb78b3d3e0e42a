import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger, PreparedProcess, ProcessNote, ProcessRequest } from '../../../src/shared/extension-api.ts';
import { DEFAULT_LIMITS, type Limits } from '../../../src/shared/limits.ts';
import type { ServerConfig } from '../../../src/shared/mcp-options.ts';
import {
  type LaunchRequest,
  launchServer,
  type RunningServer,
} from '../../../src/worker/mcp/connection/launch/server-launch.ts';
import {
  type CallReply,
  type CallRequest,
  type ConnectionOptions,
  ServerConnection,
} from '../../../src/worker/mcp/connection/server-connection.ts';

export const fixture = (file: string) => fileURLToPath(new URL(`../../fixtures/wire/${file}`, import.meta.url));

export interface LogRecord {
  readonly level: string;
  readonly message: string;
}

/** One test's servers: a workspace, what was logged and noted, and an end for all of it. */
export class WireBench {
  readonly workspace = mkdtempSync(join(tmpdir(), 'wire-'));
  readonly records: LogRecord[] = [];
  readonly notes: ProcessNote[] = [];
  readonly prepared: ProcessRequest[] = [];
  readonly #ends: (() => Promise<void>)[] = [];
  #starts = 0;

  config(file: string, given: Partial<ServerConfig> = {}): ServerConfig {
    return {
      name: 'demo',
      enabled: true,
      command: process.execPath,
      args: [fixture(file)],
      cwd: null,
      env: {},
      toolPrefix: '',
      parallel: false,
      startupTimeoutMs: 15_000,
      callTimeoutMs: 15_000,
      maxCallMs: 60_000,
      idleTimeoutMs: 0,
      shutdownTimeoutMs: 2000,
      stderrLevel: 'warn',
      scope: 'session',
      stopTool: null,
      promptSection: null,
      tools: { include: ['*'], exclude: [] },
      preset: null,
      ...given,
    };
  }

  /** A server of `mortal.mjs` in one of its modes. */
  mortal(mode = '', given: Partial<ServerConfig> = {}): ServerConfig {
    return this.config('mortal.mjs', { args: [fixture('mortal.mjs'), mode], ...given });
  }

  surroundings(limits: Partial<Limits> = {}) {
    return {
      workspace: this.workspace,
      prepare: (request: ProcessRequest): Promise<PreparedProcess> => {
        this.prepared.push(request);
        this.#starts += 1;
        const own = Object.entries(request.env).filter((entry): entry is [string, string] => entry[1] !== null);
        const env = { PATH: process.env['PATH'] ?? '', WIRE_LOG: this.#logFile, ...Object.fromEntries(own) };
        return Promise.resolve({ ...request, env, id: `bench-${this.#starts}` });
      },
      readEnv: (name: string) => Promise.resolve(name === 'GREETING' ? 'hello' : undefined),
      track: (note: ProcessNote) => void this.notes.push(note),
      logger: this.#logger(),
      limits: { ...DEFAULT_LIMITS, ...limits },
    };
  }

  async launch(config: ServerConfig, given: Partial<LaunchRequest> = {}): Promise<RunningServer> {
    const onLeftover = (gone: Promise<void>) => {
      this.#ends.push(() => gone);
      given.onLeftover?.(gone);
    };
    const server = await launchServer({ config, ...this.surroundings(), ...given, onLeftover });
    this.#ends.push(() => server.stop({ timeoutMs: 0 }));
    return server;
  }

  connect(config: ServerConfig, given: Partial<ConnectionOptions> = {}): ServerConnection {
    const connection = new ServerConnection({ config, sessionId: 'chat', ...this.surroundings(), ...given });
    this.#ends.push(() => connection.dispose({ timeoutMs: 0 }));
    return connection;
  }

  /** The lines that fixtures have logged. */
  get lines(): string[] {
    if (!existsSync(this.#logFile)) return [];
    return readFileSync(this.#logFile, 'utf8').trim().split('\n');
  }

  messages(pattern: RegExp): string[] {
    return this.records.map(({ message }) => message).filter((message) => pattern.test(message));
  }

  async end(): Promise<void> {
    await Promise.all(this.#ends.map((end) => end()));
    rmSync(this.workspace, { recursive: true, force: true });
  }

  get #logFile(): string {
    return join(this.workspace, 'wire.log');
  }

  #logger(): Logger {
    const write = (level: string) => (facts: unknown, message?: string) => {
      this.records.push({ level, message: message ?? String(facts) });
    };
    return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  }
}

/** Calls a tool with defaults for what a test does not care about. */
export function call(connection: ServerConnection, tool: string, given: Partial<CallRequest> = {}): Promise<CallReply> {
  return connection.call({
    tool,
    exposedName: tool,
    arguments: {},
    signal: new AbortController().signal,
    onProgress: () => {},
    ...given,
  });
}

/** The text of an answer, or an error's code. */
export function textOf(reply: CallReply): string {
  if (reply.kind === 'error') return `${reply.code}: ${reply.message}`;
  return (reply.raw as { content: { text: string }[] }).content.map(({ text }) => text).join('\n');
}

/** Calls a tool through the client alone. */
export async function ask(server: RunningServer, tool: string, args = {}): Promise<string> {
  const raw = await server.client.call({ tool, arguments: args, onProgress: () => {} }).answer;
  return (raw as { content: { text: string }[] }).content.map(({ text }) => text).join('\n');
}

/** A zombie is not alive. */
export function alive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** Waits for a condition; fails loudly after a generous while. */
export async function until(condition: () => boolean, what: string, timeoutMs = 10_000): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
