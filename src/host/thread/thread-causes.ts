/** Why a thread has ended, or could not begin, in the words its callers and the log get. */
import { type ErrorCode, ExtensionHostError, messageOf } from '../../shared/errors.ts';

/** What the end of a thread is called. */
export const THREAD_DEATHS: readonly ErrorCode[] = ['THREAD_EXITED', 'THREAD_STALLED', 'THREAD_MEMORY'];

/** True for an end of the thread itself: what ran there may have had no part in it. */
export function isThreadDeath(error: unknown): boolean {
  return error instanceof ExtensionHostError && THREAD_DEATHS.includes(error.code);
}

export function stalled(extension: string, silentMs: number): ExtensionHostError {
  const text = `the thread of extension ${extension} stalled: it did not respond for ${seconds(silentMs)} s and was ended`;
  return new ExtensionHostError('THREAD_STALLED', text);
}

export function overMemory(extension: string, usedMb: number, softMemoryMb: number): ExtensionHostError {
  const text = `the thread of extension ${extension} held ${usedMb} MB of memory, more than its ${softMemoryMb} MB, and was ended`;
  return new ExtensionHostError('THREAD_MEMORY', text);
}

export function flooded(extension: string, what: string): ExtensionHostError {
  return exited(`the thread of extension ${extension} flooded the host and was ended: ${what}`);
}

/** An error that nobody in the thread caught. */
export function endedWith(extension: string, message: string): ExtensionHostError {
  return exited(`the thread of extension ${extension} ended with an error: ${message}`);
}

/** What the worker's `error` event gave. */
export function failed(extension: string, error: unknown): ExtensionHostError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new ExtensionHostError('THREAD_MEMORY', `the thread of extension ${extension} ran out of memory`)
    : endedWith(extension, messageOf(error));
}

export function exitedWith(extension: string, exitCode: number): ExtensionHostError {
  return exited(`the thread of extension ${extension} ended: it exited with code ${exitCode}`);
}

export function closedPort(extension: string): ExtensionHostError {
  return exited(`extension ${extension} closed the port of its thread`);
}

export function loadedLate(extension: string, loadMs: number): ExtensionHostError {
  return new ExtensionHostError(
    'EXTENSION_LOAD_FAILED',
    `extension ${extension} did not load within ${loadMs / 1000} s (timed out)`,
  );
}

export function activatedLate(waitedMs: number): ExtensionHostError {
  return new ExtensionHostError(
    'ACTIVATION_TIMEOUT',
    `its thread did not answer within ${waitedMs / 1000} s (timed out)`,
  );
}

/** To a tenth. */
export function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

function exited(text: string): ExtensionHostError {
  return new ExtensionHostError('THREAD_EXITED', text);
}
