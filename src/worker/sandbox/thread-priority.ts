import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Behind every thread that answers somebody, before what is idle. */
const YIELDING = 10;

let yields = false;

/**
 * Puts this thread behind the others for good: on two cores three extensions that compute would otherwise take most of the
 * time from the main thread and from every good neighbour. A priority cannot be raised again without a privilege.
 */
export function yieldToOthers(): void {
  if (yields) return;
  yields = true;
  try {
    // `/proc/thread-self` is `<pid>/task/<tid>`; Linux gives every thread a priority of its own.
    const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (threadId > 0 && threadId !== process.pid) setPriority(threadId, YIELDING);
  } catch {
    // Elsewhere the limits alone have to do.
  }
}
