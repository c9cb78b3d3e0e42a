import { ExtensionHostError } from '../../shared/errors.ts';

/** How the command line ends. */
export const EXIT = {
  done: 0,
  /** The tool or the run reported an error. */
  reported: 1,
  /** A wrong command, option or configuration. */
  usage: 2,
  /** The host itself failed. */
  failed: 3,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What the shell is told about an error that ended a command. */
export function exitCodeOf(error: unknown): ExitCode {
  const isUsage =
    error instanceof ExtensionHostError && (error.code === 'CONFIG_INVALID' || error.code === 'INVALID_ARGUMENT');
  return isUsage ? EXIT.usage : EXIT.failed;
}
