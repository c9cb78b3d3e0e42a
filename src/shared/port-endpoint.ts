import { type Defer, isBatch, PostQueue } from './post-queue.ts';

/** What both sides need of a MessagePort; Node's fits. */
export interface MessagePortLike {
  postMessage(message: unknown, transfer?: readonly object[]): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
  start(): void;
  close(): void;
}

type MessageListener = (event: { readonly data: unknown }) => void;

/** What Comlink asks of a port (its `Endpoint`). */
export interface PortEndpoint {
  postMessage(message: unknown, transfer?: readonly object[]): void;
  addEventListener(type: string, listener: (event: never) => void): void;
  removeEventListener(type: string, listener: (event: never) => void): void;
  start(): void;
  /** Sends what waits, and closes the port. */
  close(): void;
}

export interface PortEndpointOptions {
  /** Gets every message that is none of Comlink's: notes and host requests travel on the same port. */
  readonly other?: (message: unknown) => void;
  /** Absent = each message goes at once and alone. */
  readonly defer?: Defer;
}

/** Lets Comlink speak over a Node port. Close it when done: `releaseProxy` through an adapter leaks the port. */
export function portEndpoint(port: MessagePortLike, { other, defer }: PortEndpointOptions = {}): PortEndpoint {
  const listeners = new Map<(event: never) => void, (message: unknown) => void>();
  const post = (message: unknown): void => port.postMessage(message);
  const unsendable = (message: unknown, error: unknown): void => {
    const failure = thrown(message, error);
    if (!isRequest(message)) post(failure);
    else for (const receive of [...listeners.values()]) receive(failure);
  };
  const queue = defer && new PostQueue(post, defer, unsendable);
  let isStarted = false;
  return {
    postMessage(message, transfer = []) {
      if (transfer.length > 0) {
        queue?.flush();
        port.postMessage(message, transfer);
      } else if (queue) queue.add(message);
      else post(message);
    },
    addEventListener(type, listener) {
      if (type !== 'message' || listeners.has(listener)) return;
      const deliver = listener as unknown as MessageListener;
      const receive = (message: unknown): void => {
        if (isBatch(message)) for (const data of message.batch) deliver({ data });
        else if (other && isOurs(message)) other(message);
        else deliver({ data: message });
      };
      listeners.set(listener, receive);
      port.on('message', receive);
    },
    removeEventListener(type, listener) {
      const receive = listeners.get(listener);
      if (type !== 'message' || !receive) return;
      listeners.delete(listener);
      port.off('message', receive);
    },
    start() {
      // Comlink starts its port with every call.
      if (isStarted) return;
      isStarted = true;
      port.start();
    },
    close() {
      queue?.flush();
      port.close();
    },
  };
}

/** Comlink's messages carry a string id; ours carry `note` or `request` instead. A batch that is too long is no batch. */
function isOurs(message: unknown): boolean {
  return (
    typeof message === 'object' && message !== null && ('note' in message || 'request' in message || 'batch' in message)
  );
}

/** A call of Comlink's, not the answer to one. */
function isRequest(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'path' in message;
}

/** What Comlink sends when a method has thrown: the caller's promise rejects with it. */
function thrown(message: unknown, error: unknown): object {
  const id = typeof message === 'object' && message !== null && 'id' in message ? message.id : undefined;
  const text = error instanceof Error ? error.message : String(error);
  const value = { isError: true, value: { message: text, name: 'DataCloneError', stack: '' } };
  return { id, type: 'HANDLER', name: 'throw', value };
}
