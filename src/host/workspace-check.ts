import { statSync } from 'node:fs';
import path from 'node:path';
import { ExtensionHostError } from '../shared/errors.ts';
import type { SessionOptions } from './options.ts';

/** The workspace of a session that is about to be opened, absolute. @throws INVALID_ARGUMENT for an id, cwd or zone that is none */
export function checkWorkspace({ id, cwd, timeZone }: SessionOptions): string {
  if (typeof id !== 'string' || id === '') throw new ExtensionHostError('INVALID_ARGUMENT', 'a session needs an id');
  if (typeof cwd !== 'string' || cwd === '') {
    throw new ExtensionHostError('INVALID_ARGUMENT', `session ${id} needs a cwd`);
  }
  const absolute = path.resolve(cwd);
  if (!statSync(absolute, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ExtensionHostError(
      'INVALID_ARGUMENT',
      `the cwd of session ${id} is no folder: ${absolute}; make it first`,
    );
  }
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    throw new ExtensionHostError(
      'INVALID_ARGUMENT',
      `session ${id}: ${timeZone} is no IANA time zone, like Europe/Berlin`,
    );
  }
  return absolute;
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
