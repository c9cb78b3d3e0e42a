import { readFileSync } from 'node:fs';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import * as z from 'zod';
import { type ErrorCode, ExtensionHostError, messageOf } from '../../../../shared/errors.ts';
import { isRecord } from '../../../../shared/json.ts';
import { LONGEST_TIMER_MS } from '../../../../shared/longest-timer.ts';
import type { Progress } from '../../../../shared/tool.ts';
import type { ClientTransport } from '../wire/stdio-transport.ts';
import type { ClientCall, ClientCallHandle, ClientPort, ServerInfo } from './client-port.ts';
import { MessageTap, type OutgoingRequest } from './message-tap.ts';

/** The SDK cannot be told to keep no time at all. */
const NEVER_MS = LONGEST_TIMER_MS;
const LATE_ANSWER_MS = 2000;
/** Fixed: an abort's own reason may hold anything. */
const CANCEL_REASON = 'the caller cancelled the request';
/** After it a ping is forgotten; whoever asked has stopped waiting long before. */
const PING_MS = 10_000;
const ANSWERED: ReadonlySet<string> = new Set<ErrorCode>(['PROTOCOL', 'LINE_TOO_LONG']);

/**
 * Always the same, whoever listens: some servers list other tools for another client, and one catalogue serves a session with
 * somebody to ask and one without. There the questions are declined.
 */
const CAPABILITIES = { roots: {}, elicitation: {}, sampling: {} };

const BoxedSchema = z.object({ boxed: z.unknown() });
const UNTIMED = { timeout: NEVER_MS };

let loading: Promise<typeof import('@modelcontextprotocol/sdk/client/index.js')> | undefined;

/** Loads the SDK at its first use: it costs 164 ms of CPU, which a thread without a server need not spend. */
export function loadSdk(): Promise<typeof import('@modelcontextprotocol/sdk/client/index.js')> {
  loading ??= import('@modelcontextprotocol/sdk/client/index.js');
  return loading;
}

export interface SdkClientOptions {
  /** The server's name, for messages. */
  readonly name: string;
  /** Gets each log notification as one text. */
  readonly onLog: (text: string) => void;
}

/** A {@link ClientPort} over the SDK's client. It keeps no time and holds no abort signal: its callers do. */
export class SdkClient implements ClientPort {
  onNotification: ClientPort['onNotification'];
  onRequest: ClientPort['onRequest'];

  readonly #name: string;
  readonly #onLog: (text: string) => void;
  readonly #tap: MessageTap;
  readonly #progress = new Map<unknown, (progress: Progress) => void>();
  #client: Client | undefined;
  #connected = false;
  #nextToken = 1;

  constructor(transport: ClientTransport, { name, onLog }: SdkClientOptions) {
    this.#name = name;
    this.#onLog = onLog;
    this.#tap = new MessageTap(
      transport,
      (method, params) => this.#notified(method, params),
      () => this.onRequest,
    );
  }

  async connect(): Promise<ServerInfo> {
    const sdk = await loadSdk();
    // The validator would be an Ajv instance, for callTool's check of results: we make our own.
    const jsonSchemaValidator = { getValidator: () => refuseToValidate };
    const client = new sdk.Client(
      { name: 'caldera', version: ownVersion() },
      { capabilities: CAPABILITIES, jsonSchemaValidator },
    );
    this.#client = client;
    try {
      await client.connect(this.#tap, UNTIMED);
    } catch (thrown) {
      throw this.#portError(thrown);
    }
    this.#connected = true;
    const { name, version } = client.getServerVersion() ?? {};
    const protocolVersion = this.#tap.protocolVersion;
    return {
      ...(name ? { name } : {}),
      ...(version ? { version } : {}),
      ...(protocolVersion === undefined ? {} : { protocolVersion }),
    };
  }

  async listTools(cursor: string | undefined): ReturnType<ClientPort['listTools']> {
    if (this.#client?.getServerCapabilities()?.tools === undefined) return undefined;
    const { answer } = this.#request('tools/list', cursor === undefined ? {} : { cursor });
    const result = await answer;
    const { tools, nextCursor } = isRecord(result) ? result : {};
    if (!Array.isArray(tools)) {
      throw new ExtensionHostError('PROTOCOL', `${this.#name} MCP server answered tools/list without a list of tools`);
    }
    return { tools, ...(typeof nextCursor === 'string' && nextCursor !== '' ? { nextCursor } : {}) };
  }

  call({ tool, arguments: args, onProgress }: ClientCall): ClientCallHandle {
    const progressToken = `caldera-${this.#nextToken}`;
    this.#nextToken += 1;
    this.#progress.set(progressToken, onProgress);
    const params = { name: tool, arguments: args, _meta: { progressToken } };
    const { request, answer } = this.#request('tools/call', params);
    const settled = answer.then(
      () => {},
      () => {},
    );
    void settled.then(() => this.#progress.delete(progressToken));
    let cancelling: Promise<void> | undefined;
    return {
      answer,
      get sent() {
        return request?.written ?? false;
      },
      cancel: () => {
        cancelling ??= request ? this.#cancel(request, settled) : settled;
        return cancelling;
      },
    };
  }

  async ping(): Promise<void> {
    const { request, answer } = this.#request('ping');
    const timer = setTimeout(() => {
      if (request) this.#tap.giveUp(request.id, new ExtensionHostError('ABORTED', 'the ping was not answered'));
    }, PING_MS);
    try {
      await answer;
    } catch (thrown) {
      // Any error that is the server's is an answer, one that cannot be used as well.
      const isAnswer = request?.written === true && thrown instanceof ExtensionHostError && ANSWERED.has(thrown.code);
      if (!isAnswer) throw thrown;
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.#tap.close();
  }

  #request(method: 'tools/list' | 'tools/call' | 'ping', params?: Record<string, unknown>) {
    if (!this.#client) throw new Error('connect() comes first');
    const message = { method, ...(params === undefined ? {} : { params }) };
    const sending = this.#client.request(message, BoxedSchema, UNTIMED);
    // The SDK sends within request(), so this is its id.
    const request = this.#tap.takeRequest();
    const answer = sending.then(
      ({ boxed }) => boxed,
      (thrown: unknown) => {
        throw this.#portError(thrown);
      },
    );
    // Whoever has given up on a call leaves its answer behind.
    answer.catch(() => {});
    return { request, answer };
  }

  async #cancel(request: OutgoingRequest, settled: Promise<void>): Promise<void> {
    const params = { requestId: request.id, reason: CANCEL_REASON };
    this.#client?.notification({ method: 'notifications/cancelled', params }).catch(() => {});
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), LATE_ANSWER_MS);
    });
    const first = await Promise.race([settled, late]);
    clearTimeout(timer);
    if (first === 'late') {
      this.#tap.giveUp(request.id, new ExtensionHostError('ABORTED', 'the request was cancelled and not answered'));
    }
  }

  #notified(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === 'notifications/progress') this.#progress.get(params['progressToken'])?.(readProgress(params));
    else if (method === 'notifications/message') this.#onLog(readLogMessage(params));
    else this.onNotification?.(method, params);
  }

  #portError(thrown: unknown): ExtensionHostError {
    if (thrown instanceof ExtensionHostError) return thrown;
    if (isRecord(thrown) && thrown['data'] instanceof ExtensionHostError) return thrown['data'];
    // A failed handshake closes the transport, too, but with an error of its own.
    if (this.#tap.closed && (this.#connected || isConnectionClosed(thrown))) {
      return new ExtensionHostError('SERVER_EXITED', `${this.#name} MCP server has exited`);
    }
    return new ExtensionHostError('PROTOCOL', messageOf(thrown), { cause: thrown });
  }
}

/** The SDK's own error; a server's would carry ours. */
function isConnectionClosed(thrown: unknown): boolean {
  return isRecord(thrown) && thrown['code'] === -32000;
}

function refuseToValidate() {
  return { valid: false as const, data: undefined, errorMessage: 'results are not checked here' };
}

function readProgress({ progress, total, message }: Readonly<Record<string, unknown>>): Progress {
  return {
    ...(Number.isFinite(progress) ? { progress: Number(progress) } : {}),
    ...(Number.isFinite(total) ? { total: Number(total) } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  };
}

/** `[level] logger: data`. */
function readLogMessage({ level, logger, data }: Readonly<Record<string, unknown>>): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data ?? null);
  return `[${String(level)}] ${typeof logger === 'string' ? `${logger}: ` : ''}${text}`;
}

let version: string | undefined;

/** The package's version; src and dist lie equally deep below its manifest. */
function ownVersion(): string {
  version ??= readVersion();
  return version;
}

function readVersion(): string {
  try {
    const manifest: unknown = JSON.parse(readFileSync(new URL('../../../../../package.json', import.meta.url), 'utf8'));
    return isRecord(manifest) && typeof manifest['version'] === 'string' ? manifest['version'] : '0.0.0';
  } catch {
    return '0.0.0';
  }
}
