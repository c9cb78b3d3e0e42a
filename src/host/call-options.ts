import { ExtensionHostError } from '../shared/errors.ts';
import type { CallOptions } from './options.ts';

/** Checks what a program hands over beside a call. @throws INVALID_ARGUMENT that names the option */
export function checkCallOptions({ signal, timeoutMs, onProgress }: CallOptions): void {
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs >= 0)) {
    throw invalid(`timeoutMs must be a number of milliseconds, 0 for none; it is ${shown(timeoutMs)}`);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalid(`signal must be an AbortSignal; it is ${shown(signal)}`);
  }
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw invalid(`onProgress must be a function; it is ${shown(onProgress)}`);
  }
}

function invalid(text: string): ExtensionHostError {
  return new ExtensionHostError('INVALID_ARGUMENT', `the options of the call do not fit: ${text}`);
}

function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : value === null ? 'null' : `a ${typeof value}`;
}
