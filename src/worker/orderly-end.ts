import { messageOf } from '../shared/errors.ts';
import type { ThreadNote } from '../shared/protocol.ts';
import type { ProcessLedger } from './process-ledger.ts';

/** The host ends the thread within milliseconds; a host that does not is not waited for. */
const HOST_ENDS_US_MS = 2000;

/**
 * Lets a thread that has children die in order. An error that nobody caught would end it at once, and its children could not
 * be reaped any more: so the host is told, ends the children while this thread still runs, and then the thread. An extension
 * that handles such errors itself is left alone.
 */
export function endInOrder(ledger: ProcessLedger, note: (note: ThreadNote) => void): void {
  let dying = false;
  const onError = (error: unknown): void => {
    if (process.listenerCount('uncaughtException') > 1 || dying) return;
    dying = true;
    const fail = (): void => {
      process.off('uncaughtException', onError);
      // Thrown from in here, an error skips the thread's exit handlers.
      queueMicrotask(() => {
        throw error;
      });
    };
    ledger.noteAll();
    if (ledger.isEmpty) {
      fail();
      return;
    }
    note({ type: 'dying', message: messageOf(error) });
    setTimeout(fail, HOST_ENDS_US_MS);
  };
  process.on('uncaughtException', onError);
  // After `process.exit()` nothing can be reaped, but the host has to know of everything there is.
  process.on('exit', () => ledger.noteAll());
}
