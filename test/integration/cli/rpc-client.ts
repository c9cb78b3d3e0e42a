/** A client of `caldera rpc`, as small as one in another language would be. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { waitUntil } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';
import { type CommandLineOptions, PROBE, startCommandLine } from './command-line.ts';

export interface RpcMessage {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export class RpcClient {
  readonly process: ChildProcessWithoutNullStreams;
  /** Everything that came, in order. */
  readonly messages: RpcMessage[] = [];
  /** Lines on stdout that are no JSON-RPC message. */
  readonly stray: string[] = [];
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly cwd = makeWorkspace('rpc');
  stderr = '';
  #nextId = 1;

  constructor(words: readonly string[] = ['--extension', PROBE], options: CommandLineOptions = {}) {
    const agentDir = makeWorkspace('agent');
    this.process = startCommandLine(['rpc', '--agent-dir', agentDir, ...words], options);
    this.process.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    this.exited = new Promise((resolve) => {
      this.process.on('close', (code, signal) => resolve({ code, signal }));
    });
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** Begins to read stdout. A client that never does is slow indeed. */
  read(): this {
    createInterface({ input: this.process.stdout }).on('line', (line) => {
      const message = parsed(line);
      if (message) this.messages.push(message);
      else this.stray.push(line);
    });
    return this;
  }

  /** Sends a request and gives its id. */
  send(method: string, params: object = {}): number {
    const id = this.#nextId++;
    this.write({ jsonrpc: '2.0', id, method, params });
    return id;
  }

  /** Sends anything. */
  write(message: unknown): void {
    this.process.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Waits for the answer to a request. */
  async answer(id: string | number, timeoutMs?: number): Promise<RpcMessage> {
    return waitUntil(
      () => this.messages.find((message) => message.id === id && message.method === undefined),
      `the answer to ${id}; stderr: ${this.stderr}`,
      timeoutMs === undefined ? {} : { timeoutMs },
    );
  }

  /** Sends a request and waits for its answer. */
  async ask(method: string, params: object = {}, timeoutMs?: number): Promise<RpcMessage> {
    return this.answer(this.send(method, params), timeoutMs);
  }

  /** The same for one that has to succeed. */
  async result<T = Readonly<Record<string, unknown>>>(
    method: string,
    params: object = {},
    timeoutMs?: number,
  ): Promise<T> {
    const { result, error } = await this.ask(method, params, timeoutMs);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result as T;
  }

  /** Opens a session of this name in the client's workspace. */
  async open(sessionId: string): Promise<void> {
    await this.result('session/open', { sessionId, cwd: this.cwd });
  }

  /** What the tool says, as one text. */
  async call(sessionId: string, name: string, args: object = {}, timeoutMs?: number): Promise<string> {
    const params = { sessionId, name, arguments: args };
    const { content } = await this.result<{ content: { text: string }[] }>('tool/call', params, timeoutMs);
    return content.map(({ text }) => text).join('\n');
  }

  /** Params of the notifications that came so far. */
  notifications(method: string): Readonly<Record<string, unknown>>[] {
    return this.messages.filter((message) => message.method === method).map(({ params = {} }) => params);
  }

  /** Waits for a notification with these params among its own. */
  async notification(
    method: string,
    some: Readonly<Record<string, unknown>> = {},
  ): Promise<Readonly<Record<string, unknown>>> {
    const fits = (params: Readonly<Record<string, unknown>>): boolean =>
      Object.entries(some).every(([key, value]) => params[key] === value);
    return waitUntil(() => this.notifications(method).find(fits), `the notification ${method} ${JSON.stringify(some)}`);
  }
}

function parsed(line: string): RpcMessage | undefined {
  try {
    const message: unknown = JSON.parse(line);
    const isMessage =
      typeof message === 'object' && message !== null && 'jsonrpc' in message && message.jsonrpc === '2.0';
    return isMessage ? (message as RpcMessage) : undefined;
  } catch {
    return undefined;
  }
}
