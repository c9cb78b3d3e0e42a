import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/shared/errors.ts';

test('the error codes are these', () => {
  expect(
    ERROR_CODES,
    'Callers match on error codes. A code that is renamed or removed breaks them: that is a major release. ' +
      'A new one goes at the end of its group here, into docs/errors.md and into CHANGELOG.md.',
  ).toEqual([
    'INVALID_ARGUMENT',
    'UNKNOWN_TOOL',
    'TOOL_INACTIVE',
    'TOOL_DENIED',
    'ABORTED',
    'CALL_TIMEOUT',
    'SESSION_CLOSED',
    'SESSION_EXISTS',
    'HOST_CLOSED',
    'HOST_BUSY',
    'EXTENSION_LOAD_FAILED',
    'ACTIVATION_TIMEOUT',
    'THREAD_EXITED',
    'THREAD_STALLED',
    'THREAD_MEMORY',
    'CRASH_LOOPING',
    'PERMISSION_DENIED',
    'CONFIG_INVALID',
    'NAME_TAKEN',
    'TOOL_QUARANTINED',
    'SERVER_STARTING',
    'SERVER_START_FAILED',
    'SERVER_EXITED',
    'STATE_LOST',
    'LINE_TOO_LONG',
    'PROTOCOL',
  ]);
});
