import type { Readable } from 'node:stream';
import { abortError } from '../../shared/errors.ts';
import { isRecord } from '../../shared/json.ts';
import { RPC_CODES, RpcError, toRpcError } from './json-rpc-error.ts';
import { type IncomingMessage, idInHead, notification, type RpcId, readMessage } from './json-rpc-message.ts';
import { LineReader } from './line-reader.ts';
import type { Outbox } from './outbox.ts';

/** A longer line is refused without being read: its JSON text could stop the process. */
const RPC_LINE_BYTES = 16 * 1024 * 1024;

/** While the client leaves more than this unread, nothing more is read from it. */
const PAUSE_BYTES = 64 * 1024 * 1024;

/** A request on its way. */
export interface RpcCall {
  /** Absent when the client wants no answer. */
  readonly id?: RpcId;
  /** Fires on `$/cancel`. */
  readonly signal: AbortSignal;
}

export interface RpcHandlers {
  /** Answers one request with an object; what it throws is the error. Requests run at once. */
  request(method: string, params: unknown, call: RpcCall): Promise<object>;
  /** What went wrong where nobody can be told by an answer. */
  ignored(why: string): void;
  /** The client will send no more. */
  end(): void;
}

/** JSON-RPC 2.0, one message a line: reads requests from `input`, answers through `outbox`, keeps what is in flight. */
export class JsonRpcStream {
  readonly #input: Readable;
  readonly #outbox: Outbox;
  readonly #handlers: RpcHandlers;
  readonly #inFlight = new Map<RpcId, AbortController>();
  readonly #running = new Set<Promise<void>>();
  readonly #asked = new Map<RpcId, { resolve(result: unknown): void; reject(error: Error): void }>();
  #nextAsked = 1;
  #ended = false;

  constructor(input: Readable, outbox: Outbox, handlers: RpcHandlers) {
    this.#input = input;
    this.#outbox = outbox;
    this.#handlers = handlers;
  }

  /** Begins to read. */
  start(): void {
    const reader = new LineReader(RPC_LINE_BYTES, {
      line: (text) => this.#line(text),
      tooLong: (head) => this.#refuseLongLine(head),
    });
    const end = (): void => {
      if (this.#ended) return;
      this.#ended = true;
      reader.end();
      for (const asked of this.#asked.values()) asked.reject(new Error('the client is gone'));
      this.#handlers.end();
    };
    this.#input.on('data', (chunk: Buffer) => {
      reader.push(chunk);
      if (this.#outbox.queuedBytes > PAUSE_BYTES) this.#pause();
    });
    this.#input.on('end', end);
    this.#input.on('close', end);
    this.#input.on('error', end);
  }

  /**
   * Asks the client. When `signal` fires nobody waits any more, and the client is told with `$/cancel`.
   * @throws the client's own error, or that it is gone; ABORTED
   */
  async ask(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    if (this.#ended) throw new Error('the client is gone');
    if (signal.aborted) throw abortError(method, signal);
    const id = `host-${this.#nextAsked}`;
    this.#nextAsked += 1;
    let onAbort = (): void => undefined;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      onAbort = () => {
        this.#outbox.send(notification('$/cancel', { id }));
        reject(abortError(method, signal));
      };
      signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      this.#outbox.send({ jsonrpc: '2.0', id, method, params });
      return await answer;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#asked.delete(id);
    }
  }

  /** Resolves when every request that has come so far is answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  #pause(): void {
    this.#input.pause();
    void this.#outbox.caughtUp().then(() => this.#input.resume());
  }

  #line(text: string): void {
    const message = readMessage(text);
    switch (message.kind) {
      case 'request':
        this.#begin(message.id, message.method, message.params);
        break;
      case 'notification':
        this.#notified(message.method, message.params);
        break;
      case 'answer':
        this.#answered(message);
        break;
      case 'invalid':
        this.#fail(message.id, message.error);
        break;
    }
  }

  #answered({ id, result, refused }: Extract<IncomingMessage, { kind: 'answer' }>): void {
    const asked = id === null ? undefined : this.#asked.get(id);
    if (!asked) this.#handlers.ignored('an answer to something that was not asked');
    else if (refused === undefined) asked.resolve(result);
    else asked.reject(new Error(refused));
  }

  #begin(id: RpcId, method: string, params: unknown): void {
    if (this.#inFlight.has(id)) {
      const text = `a request with the id ${JSON.stringify(id)} is still in flight; give each one an id of its own`;
      this.#fail(id, new RpcError(RPC_CODES.invalidRequest, text));
      return;
    }
    const controller = new AbortController();
    this.#inFlight.set(id, controller);
    const running = this.#answer(id, controller.signal, method, params).finally(() => {
      this.#running.delete(running);
    });
    this.#running.add(running);
  }

  async #answer(id: RpcId, signal: AbortSignal, method: string, params: unknown): Promise<void> {
    try {
      const result = await this.#handlers.request(method, params, { id, signal });
      this.#outbox.send({ jsonrpc: '2.0', id, result });
    } catch (error) {
      this.#fail(id, error);
    } finally {
      this.#inFlight.delete(id);
    }
  }

  #notified(method: string, params: unknown): void {
    if (method === '$/cancel') {
      this.#cancel(params);
      return;
    }
    // A request without an id wants no answer, not even that it failed.
    this.#handlers.request(method, params, { signal: NEVER }).catch((error: unknown) => {
      this.#handlers.ignored(`the notification ${method} failed: ${toRpcError(error).message}`);
    });
  }

  /** An id that is not in flight has been answered already. */
  #cancel(params: unknown): void {
    const id = isRecord(params) ? params['id'] : undefined;
    if (typeof id === 'string' || typeof id === 'number')
      this.#inFlight.get(id)?.abort(new Error('cancelled by the client'));
    else this.#handlers.ignored('a $/cancel without the id of a request');
  }

  #refuseLongLine(head: string): void {
    const text = `a line is longer than ${RPC_LINE_BYTES / 1024 / 1024} MiB; it was not read`;
    this.#fail(idInHead(head), new RpcError(RPC_CODES.invalidRequest, text, { code: 'LINE_TOO_LONG' }));
  }

  #fail(id: RpcId | null, error: unknown): void {
    this.#outbox.send({ jsonrpc: '2.0', id, error: toRpcError(error) });
  }
}

const NEVER = new AbortController().signal;
