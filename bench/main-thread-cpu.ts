import { readFileSync } from 'node:fs';

/**
 * Milliseconds of CPU the main thread of this process has used. Threads of V8 and of Node, and workers, are other threads
 * with clocks of their own. Linux only.
 */
export function mainThreadCpuMs(): number {
  const [nanoseconds = '0'] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}
