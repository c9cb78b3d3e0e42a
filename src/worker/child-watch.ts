import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import type { ProcessLedger } from './process-ledger.ts';

/**
 * Notes every child process that code in this thread starts, by whatever function of `node:child_process` (the synchronous
 * ones end their child before they return). The channel tells of a child before it is spawned; its pid is there when the
 * spawning code has run to its end.
 */
export function watchChildren(ledger: ProcessLedger): void {
  subscribe('child_process', (message) => {
    const { process: child } = message as { readonly process: ChildProcess };
    queueMicrotask(() => {
      const { pid } = child;
      if (pid === undefined) return;
      ledger.watch(pid);
      // It may have ended already, and told so.
      if (child.exitCode !== null || child.signalCode !== null) ledger.left(pid);
      else child.once('exit', () => ledger.left(pid));
    });
  });
}
