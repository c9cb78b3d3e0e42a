import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Behind every thread that answers somebody, before what is idle. */
const YIELDING = 10;

/** What guest code may compute without being one that computes: a tenth of the time, and so much at once. */
const FREE_SHARE = 0.1;
const FREE_MS = 200;

let yields = false;
/** How far the guests of this thread are beyond their share, and when that was so. */
let aheadMs = 0;
let countedAt = 0;

/**
 * Counts CPU time of guest code. In one long turn or in many short ones: a thread whose guests compute goes behind the
 * others.
 */
export function countGuestTime(cpuMs: number): void {
  if (yields) return;
  const now = performance.now();
  aheadMs = Math.max(0, aheadMs - FREE_SHARE * (now - countedAt)) + cpuMs;
  countedAt = now;
  if (aheadMs > FREE_MS) yieldToOthers();
}

/**
 * Puts this thread behind the others for good: on two cores three extensions that compute would otherwise take most of the
 * time from the main thread and from every good neighbour. A priority cannot be raised again without a privilege.
 */
function yieldToOthers(): void {
  yields = true;
  try {
    // `/proc/thread-self` is `<pid>/task/<tid>`; Linux gives every thread a priority of its own.
    const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (threadId > 0 && threadId !== process.pid) setPriority(threadId, YIELDING);
  } catch {
    // Elsewhere the limits alone have to do.
  }
}
