import type { Command } from 'commander';
import type { ExitCode } from './exit-code.ts';

/** Makes one command of the command line. Its action calls `finish` with what the process ends with, see `EXIT`. */
export type CommandFactory = (finish: (exitCode: ExitCode) => void) => Command;
