import { abortError } from '../../../../shared/errors.ts';

/** Waits for `promise` or the signal, whichever is first, and leaves no listener behind. The promise goes on by itself. */
export async function raceAbort<T>(promise: Promise<T>, signal: AbortSignal, what: string): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(abortError(what, signal));
  });
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
