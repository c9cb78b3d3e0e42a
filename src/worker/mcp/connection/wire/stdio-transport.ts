import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { ExtensionHostError } from '../../../../shared/errors.ts';
import type { Limits } from '../../../../shared/limits.ts';
import { LineFramer, type LongLine } from '../process/line-framer.ts';
import type { ServerProcess } from '../process/server-process.ts';
import { guessFrame } from './answer-id.ts';
import { readFrame } from './frame-reader.ts';
import type { RequestId } from './request-id.ts';

const MIB = 1024 * 1024;
const INTERNAL_ERROR = -32603;
/** While a request is open, a server that starts processes is looked at so often. */
const OBSERVE_INTERVAL_MS = 1000;

/** What our client needs of a transport beyond the SDK's interface. */
export interface ClientTransport extends Transport {
  /** Nobody waits for this answer any more: when it comes after all it is noise. */
  forget(id: RequestId): void;
}

/**
 * Newline-delimited JSON-RPC over a server process. It passes on requests, notifications and answers to open requests, and
 * answers a request itself, with an {@link ExtensionHostError} as the error's `data`, when its answer cannot be used.
 * Closing it does not end the process: that is the stop ladder's business.
 */
export class StdioTransport implements ClientTransport {
  onclose: Transport['onclose'];
  onerror: Transport['onerror'];
  onmessage: Transport['onmessage'];

  readonly #process: ServerProcess;
  readonly #limits: Limits;
  readonly #framer: LineFramer;
  readonly #open = new Set<RequestId>();
  #observing: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(server: ServerProcess, limits: Limits) {
    this.#process = server;
    this.#limits = limits;
    this.#framer = new LineFramer(limits.lineBytes, {
      line: (text) => this.#read(text),
      tooLong: (line) => this.#failLong(line),
      flooded: (bytes) => this.#failFlood(bytes),
    });
  }

  start(): Promise<void> {
    const { stdout, stdin, ended } = this.#process;
    // SDK and calls in parallel may all wait for a drain.
    stdin.setMaxListeners(0);
    stdout.on('data', (chunk: Buffer) => this.#framer.push(chunk));
    stdout.once('end', () => this.#framer.end());
    void ended.then(() => this.#end());
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#process;
    if (this.#closed || this.#process.isOver || !stdin.writable) {
      return Promise.reject(new ExtensionHostError('SERVER_EXITED', `${this.#name} MCP server has exited`));
    }
    const line = `${JSON.stringify(message)}\n`;
    const queuedBytes = stdin.writableLength;
    if (queuedBytes > 0 && queuedBytes + line.length > 2 * this.#limits.lineBytes) {
      const text = `${this.#name} MCP server does not read its input: ${mib(queuedBytes)} wait for it`;
      return Promise.reject(new ExtensionHostError('PROTOCOL', text));
    }
    if ('method' in message && 'id' in message) {
      this.#open.add(message.id);
      this.#observing ??= setInterval(() => this.#process.observe(), OBSERVE_INTERVAL_MS).unref();
    }
    return new Promise((resolve, reject) => {
      stdin.write(line, (thrown) => {
        if (!thrown) return resolve();
        this.#process.expectExit('it closed its stdin');
        reject(new ExtensionHostError('SERVER_EXITED', `${this.#name} MCP server reads no more`, { cause: thrown }));
      });
    });
  }

  forget(id: RequestId): void {
    this.#open.delete(id);
    if (this.#open.size > 0) return;
    clearInterval(this.#observing);
    this.#observing = undefined;
  }

  close(): Promise<void> {
    this.#end();
    return Promise.resolve();
  }

  get #name(): string {
    return this.#process.log.name;
  }

  #end(): void {
    if (this.#closed) return;
    this.#framer.end();
    this.#closed = true;
    clearInterval(this.#observing);
    this.onclose?.();
  }

  #read(line: string): void {
    if (this.#closed) return;
    const frame = readFrame(line, this.#open);
    switch (frame.kind) {
      case 'blank':
        return;
      case 'noise':
        this.#process.log.noise(frame.text);
        return;
      case 'stray':
        this.#process.log.stray(frame.id);
        return;
      case 'malformed': {
        const text = `${this.#name} MCP server sent an answer that cannot be used: ${frame.why}`;
        for (const id of frame.ids) this.#fail(id, new ExtensionHostError('PROTOCOL', text));
        return;
      }
      case 'answer':
        this.#settle(frame.id, { jsonrpc: '2.0', id: frame.id, result: frame.result });
        return;
      case 'error': {
        const { id, code, message } = frame;
        this.#settle(id, { jsonrpc: '2.0', id, error: { code, message } });
        return;
      }
      case 'request':
      case 'notification': {
        const { kind: _, ...message } = frame;
        this.onmessage?.({ jsonrpc: '2.0', ...message });
        return;
      }
    }
  }

  #settle(id: RequestId, answer: JSONRPCMessage): void {
    // Before the caller knows: what the call has started must not be missed when the server dies next.
    this.#process.observe();
    this.forget(id);
    this.onmessage?.(answer);
  }

  /** Answers an open request in the server's place. */
  #fail(id: RequestId, error: ExtensionHostError): void {
    if (!this.#open.has(id)) return;
    this.#settle(id, { jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: error.message, data: error } });
  }

  #failLong({ head, tail, bytes }: LongLine): void {
    const text = `${this.#name} MCP server answered with a line of ${mib(bytes)}; the limit is ${mib(this.#limits.lineBytes)}`;
    const { asks, id } = guessFrame(head, tail);
    if (asks || this.#open.size === 0) this.#process.log.noise(head);
    else if (id !== undefined && !this.#open.has(id)) this.#process.log.stray(id);
    else {
      // Without an id it may have been any of them.
      const ids = id === undefined ? [...this.#open] : [id];
      for (const each of ids) this.#fail(each, new ExtensionHostError('LINE_TOO_LONG', text));
    }
  }

  #failFlood(bytes: number): void {
    const limit = mib(this.#limits.lineBytes);
    const what = `sent ${mib(bytes)} on its stdout without a newline (the limit of a line is ${limit})`;
    const text = `${this.#name} MCP server ${what} and was stopped. It restarts on the next call; its state was lost.`;
    for (const id of [...this.#open]) this.#fail(id, new ExtensionHostError('LINE_TOO_LONG', text));
    this.#process.abandon(`it ${what}`);
  }
}

function mib(bytes: number): string {
  return bytes < MIB ? `${bytes} bytes` : `${(bytes / MIB).toFixed(1)} MiB`;
}
