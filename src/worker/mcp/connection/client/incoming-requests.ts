import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { messageOf } from '../../../../shared/errors.ts';
import { printable } from '../../../../shared/printable.ts';
import type { RequestId } from '../wire/request-id.ts';
import type { RequestHandler } from './client-port.ts';

/** A server that asks faster than it is answered is refused beyond this. */
const OPEN_REQUESTS = 64;
const CODES = { methodNotFound: -32601, internalError: -32603, busy: -32000 } as const;
const METHOD_CHARACTERS = 100;

/** Thrown by a handler: refuses with a code of JSON-RPC or of MCP. */
export class RequestRefused extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'RequestRefused';
    this.code = code;
  }
}

/** Requests that a server sends: each is answered, what nobody knows at once. */
export class IncomingRequests {
  readonly #send: (message: JSONRPCMessage) => Promise<void>;
  readonly #handler: () => RequestHandler | undefined;
  readonly #open = new Map<RequestId, AbortController>();

  constructor(send: (message: JSONRPCMessage) => Promise<void>, handler: () => RequestHandler | undefined) {
    this.#send = send;
    this.#handler = handler;
  }

  /** Never rejects. */
  async take(id: RequestId, method: string, params: Readonly<Record<string, unknown>>): Promise<void> {
    if (method === 'ping') return this.#answer(id, {});
    if (this.#open.size >= OPEN_REQUESTS || this.#open.has(id)) {
      return this.#refuse(id, CODES.busy, 'too many requests are open');
    }
    const controller = new AbortController();
    const working = this.#handler()?.(method, params, controller.signal);
    if (!working) {
      const text = `this client knows no request ${printable(method.slice(0, METHOD_CHARACTERS))}`;
      return this.#refuse(id, CODES.methodNotFound, text);
    }
    this.#open.set(id, controller);
    try {
      const result = await working;
      if (!controller.signal.aborted) await this.#answer(id, result);
    } catch (thrown) {
      if (controller.signal.aborted) return;
      const code = thrown instanceof RequestRefused ? thrown.code : CODES.internalError;
      await this.#refuse(id, code, messageOf(thrown));
    } finally {
      this.#open.delete(id);
    }
  }

  /** The server does not want the answer any more. */
  cancel(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#open.get(id)?.abort();
  }

  /** The server is gone. */
  end(): void {
    for (const controller of this.#open.values()) controller.abort();
  }

  #answer(id: RequestId, result: Record<string, unknown>): Promise<void> {
    return this.#post({ jsonrpc: '2.0', id, result });
  }

  #refuse(id: RequestId, code: number, message: string): Promise<void> {
    return this.#post({ jsonrpc: '2.0', id, error: { code, message } });
  }

  async #post(message: JSONRPCMessage): Promise<void> {
    // One that has gone, or does not read, has no use for it.
    await this.#send(message).catch(() => {});
  }
}
