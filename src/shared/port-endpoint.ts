/** What both sides need of a MessagePort; Node's fits. */
export interface MessagePortLike {
  postMessage(message: unknown, transfer?: readonly object[]): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
  start(): void;
  close(): void;
}

/** What Comlink asks of a port (its `Endpoint`). */
export interface PortEndpoint {
  postMessage(message: unknown, transfer?: readonly object[]): void;
  addEventListener(type: string, listener: (event: never) => void): void;
  removeEventListener(type: string, listener: (event: never) => void): void;
  start(): void;
}

/**
 * Lets Comlink speak over a Node port. Close the port itself when done: `releaseProxy` through an adapter leaks it.
 * `taken` sees every message first, and says which of them are none of Comlink's: notes and host requests travel on the
 * same port.
 */
export function portEndpoint(port: MessagePortLike, taken?: (message: unknown) => boolean): PortEndpoint {
  const listeners = new Map<(event: never) => void, (message: unknown) => void>();
  let isStarted = false;
  return {
    postMessage(message, transfer) {
      // Comlink always hands a list over, and Node walks an empty one, too.
      if (transfer === undefined || transfer.length === 0) port.postMessage(message);
      else port.postMessage(message, transfer);
    },
    addEventListener(type, listener) {
      if (type !== 'message' || listeners.has(listener)) return;
      const deliver = listener as unknown as (event: { data: unknown }) => void;
      const wrapped = (message: unknown): void => {
        if (!taken?.(message)) deliver({ data: message });
      };
      listeners.set(listener, wrapped);
      port.on('message', wrapped);
    },
    removeEventListener(type, listener) {
      const wrapped = listeners.get(listener);
      if (type !== 'message' || !wrapped) return;
      listeners.delete(listener);
      port.off('message', wrapped);
    },
    start() {
      // Comlink starts its port with every call.
      if (isStarted) return;
      isStarted = true;
      port.start();
    },
  };
}
