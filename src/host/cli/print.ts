import type { Command } from 'commander';

/** Writes a line, or several, to stdout. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** True when colours are wanted: on a terminal, without `NO_COLOR`. */
export function hasColour(): boolean {
  return process.stdout.isTTY && !process.env['NO_COLOR'];
}

/** The option that makes a command print one JSON document on stdout and nothing else there. */
export function addJsonFlag(command: Command): Command {
  return command.option('--json', 'print one JSON document instead of text');
}
