import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadBoot } from '../shared/protocol.ts';

/**
 * What the host gave this thread, taken so that no extension comes upon it: not the control port in `workerData`, and not the
 * thread's own port, which nobody listens to and which could fill the main thread.
 */
export function takeBoot(): ThreadBoot {
  parentPort?.close();
  const given = workerData as Record<string, unknown>;
  const boot = { ...given } as unknown as ThreadBoot;
  for (const name of Object.keys(given)) delete given[name];
  return boot;
}

/** The linear memory of the sandbox's machines: V8 counts it as external memory, and it has a limit of its own. */
export function apartBytesOf({ sandbox }: ThreadBoot): () => number {
  if (!sandbox) return () => 0;
  const words = new Int32Array(sandbox.memoryKb);
  return () => Atomics.load(words, 0) * 1024;
}
