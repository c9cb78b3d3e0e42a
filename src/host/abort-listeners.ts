/**
 * One listener a signal, however many calls wait on it: a program hands one signal to a hundred calls at once, and Node warns
 * of a leak at the eleventh listener.
 */
const waiting = new WeakMap<AbortSignal, { readonly callbacks: Set<() => void>; readonly listener: () => void }>();

/** Calls back when the signal aborts; the returned function ends it. The last one to go takes the listener along. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const entry = waiting.get(signal) ?? listen(signal);
  entry.callbacks.add(callback);
  return () => {
    entry.callbacks.delete(callback);
    if (entry.callbacks.size > 0 || waiting.get(signal) !== entry) return;
    waiting.delete(signal);
    signal.removeEventListener('abort', entry.listener);
  };
}

function listen(signal: AbortSignal): { readonly callbacks: Set<() => void>; readonly listener: () => void } {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    waiting.delete(signal);
    for (const callback of callbacks) callback();
  };
  const entry = { callbacks, listener };
  waiting.set(signal, entry);
  signal.addEventListener('abort', listener, { once: true });
  return entry;
}
