import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { ExtensionHostError } from '../../../../shared/errors.ts';
import { isRecord } from '../../../../shared/json.ts';
import type { RequestId } from '../wire/request-id.ts';
import type { ClientTransport } from '../wire/stdio-transport.ts';
import type { RequestHandler } from './client-port.ts';
import { IncomingRequests } from './incoming-requests.ts';

/** A request as it left. */
export interface OutgoingRequest {
  readonly id: RequestId;
  /** True once it was handed to the pipe, false again when the pipe refused it whole. */
  written: boolean;
}

/**
 * Sits between the SDK's client and a transport. Results pass the SDK in a box (it would look into them, and drop an answer
 * with `_meta: null`), errors of the server as one of our errors; notifications go past it (it would run their handlers
 * after those of an answer that came later), and so do the server's requests (it would check forms and answers by schemas of
 * its own); and the id of each request of ours is told, which the SDK keeps to itself.
 */
export class MessageTap implements Transport {
  onclose: Transport['onclose'];
  onerror: Transport['onerror'];
  onmessage: Transport['onmessage'];

  readonly #inner: ClientTransport;
  readonly #onNotification: (method: string, params: Readonly<Record<string, unknown>>) => void;
  readonly #requests: IncomingRequests;
  #last: OutgoingRequest | undefined;
  #initializeId: RequestId | undefined;
  #protocolVersion: string | undefined;
  #closed = false;

  constructor(
    inner: ClientTransport,
    onNotification: (method: string, params: Readonly<Record<string, unknown>>) => void,
    requestHandler: () => RequestHandler | undefined,
  ) {
    this.#inner = inner;
    this.#onNotification = onNotification;
    this.#requests = new IncomingRequests((message) => inner.send(message), requestHandler);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** As negotiated. */
  get protocolVersion(): string | undefined {
    return this.#protocolVersion;
  }

  setProtocolVersion(version: string): void {
    this.#protocolVersion = version;
    this.#inner.setProtocolVersion?.(version);
  }

  start(): Promise<void> {
    this.#inner.onmessage = (message) => this.#incoming(message);
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => {
      this.#closed = true;
      this.#requests.end();
      this.onclose?.();
    };
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message && 'id' in message)) return this.#inner.send(message);
    const request: OutgoingRequest = { id: message.id, written: true };
    this.#last = request;
    if (message.method === 'initialize') this.#initializeId = message.id;
    try {
      await this.#inner.send(message);
    } catch (thrown) {
      request.written = false;
      throw thrown;
    }
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** The request that was sent since the last time; `undefined` when none could be. */
  takeRequest(): OutgoingRequest | undefined {
    const last = this.#last;
    this.#last = undefined;
    return last;
  }

  /** Ends a request that is still open with an error; an answer that comes later is dropped. */
  giveUp(id: RequestId, error: ExtensionHostError): void {
    this.#inner.forget(id);
    this.onmessage?.(errorAnswer(id, error));
  }

  #incoming(message: JSONRPCMessage): void {
    if ('method' in message) {
      const { method, params = {} } = message;
      if ('id' in message) void this.#requests.take(message.id, method, params);
      else if (method === 'notifications/cancelled') this.#requests.cancel(params['requestId']);
      else this.#onNotification(method, params);
      return;
    }
    const { id } = message;
    if (id === undefined) return;
    if ('error' in message) {
      const { code, message: text, data } = message.error;
      const own = data instanceof ExtensionHostError ? data : serverError(code, text);
      this.onmessage?.(errorAnswer(id, own));
      return;
    }
    const result = id === this.#initializeId ? plainInitializeResult(message.result) : { boxed: message.result };
    this.onmessage?.({ jsonrpc: '2.0', id, result });
  }
}

function serverError(code: number, message: string): ExtensionHostError {
  return new ExtensionHostError('PROTOCOL', message || `the server answered with error ${code}`, {
    data: { rpcCode: code },
  });
}

/** True when the server itself answered with an error, as opposed to an answer that could not be used. */
export function isServerError(error: ExtensionHostError): boolean {
  return isRecord(error.data) && 'rpcCode' in error.data;
}

function errorAnswer(id: RequestId, error: ExtensionHostError): JSONRPCMessage {
  // -32603, since the SDK reads some codes' data.
  return { jsonrpc: '2.0', id, error: { code: -32603, message: error.message, data: error } };
}

/** What we use of an initialize result, in the types the SDK insists on; servers leave out versions and more. */
function plainInitializeResult(result: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { protocolVersion, capabilities, serverInfo } = result;
  const info = isRecord(serverInfo) ? serverInfo : {};
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const tools = isRecord(capabilities) ? capabilities['tools'] : undefined;
  return {
    protocolVersion,
    capabilities: tools === undefined || tools === null || tools === false ? {} : { tools: {} },
    serverInfo: { name: text(info['name']), version: text(info['version']) },
  };
}
