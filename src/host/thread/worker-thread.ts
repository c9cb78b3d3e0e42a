import { type MessagePort, Worker } from 'node:worker_threads';
import type { ThreadBoot } from '../../shared/protocol.ts';
import { WORKER_ENTRY } from './worker-entry.ts';

/** Starts the thread of an extension with exactly this environment. Its output never reaches the host's stdio. */
export function startWorker(boot: ThreadBoot, control: MessagePort, env: Readonly<Record<string, string>>): Worker {
  const worker = new Worker(WORKER_ENTRY, {
    workerData: boot,
    transferList: [control],
    name: `caldera ${boot.extension}`,
    env: { ...env },
    // What gets past the thread's own capture is drained and dropped.
    stdin: false,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: boot.limits.oldGenerationMb },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  return worker;
}
