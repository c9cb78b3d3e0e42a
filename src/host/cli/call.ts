import { Command, InvalidArgumentError } from 'commander';
import { ExtensionHostError } from '../../shared/errors.ts';
import type { JsonObject } from '../../shared/json.ts';
import { nearestName } from '../../shared/nearest-name.ts';
import { printable } from '../../shared/printable.ts';
import type { Progress, ToolResult } from '../../shared/tool.ts';
import type { Session } from '../index.ts';
import { readCallArguments } from './call-arguments.ts';
import type { CommandFactory } from './cli-command.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { addHostFlags, type HostFlags } from './host-flags.ts';
import { writeImage } from './image-files.ts';
import { useSession } from './one-session.ts';
import { addJsonFlag, print } from './print.ts';

interface CallFlags extends HostFlags {
  readonly json?: boolean;
  readonly out: string;
  readonly timeout?: number;
}

const HELP = `
This is for trying a tool. Each run is a fresh session with fresh server processes, so nothing that a server remembers is
there on the next one: for stateful work use caldera rpc, or the library.

The text of the result goes to stdout, its images into files beside (--out). The exit code is 1 when the tool reports an error.

Examples:
  $ caldera call --config caldera.json list_directory '{"path": "."}'
  $ caldera call --config caldera.json create_entities @entities.json
  $ echo '{"text": "hello"}' | caldera call --extension ./my-extension.ts echo - --json`;

/** `caldera call`: one call of one tool, to see what it does. */
export const callCommand: CommandFactory = (finish) =>
  addJsonFlag(addHostFlags(new Command('call')))
    .description('one call of a tool in a fresh session, for trying it; not for stateful work')
    .argument('<tool>', 'its name, as caldera tools shows it')
    .argument('[arguments]', 'JSON, @FILE, or - for stdin (default: {})')
    .option('--out <dir>', 'where images are written; with --json they stay in the document', '.')
    .option(
      '--timeout <seconds>',
      'wall time of the call, start of its server included; 0 = none (default: 900)',
      seconds,
    )
    .addHelpText('after', HELP)
    .action(async (tool: string, given: string | undefined, flags: CallFlags) =>
      finish(await callOnce(tool, given, flags)),
    );

async function callOnce(tool: string, given: string | undefined, flags: CallFlags): Promise<ExitCode> {
  const args = await readCallArguments(given, process.stdin);
  const result = await useSession(flags, (session) => call(session, tool, args, flags));
  if (flags.json) print(JSON.stringify(result, null, 2));
  else await show(tool, result, flags.out);
  if (result.details?.error?.code === 'INVALID_ARGUMENT') {
    process.stderr.write('caldera: caldera tools --schema shows the parameters of each tool\n');
  }
  return result.isError ? EXIT.reported : EXIT.done;
}

async function call(session: Session, name: string, args: JsonObject, { timeout }: CallFlags): Promise<ToolResult> {
  const names = session.tools.map((tool) => tool.name);
  if (!names.includes(name)) throw unknownTool(name, names);
  return session.callTool(
    { name, arguments: args },
    {
      ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
      ...(process.stderr.isTTY ? { onProgress: showProgress } : {}),
    },
  );
}

async function show(tool: string, { content }: ToolResult, folder: string): Promise<void> {
  for (const block of content) {
    // In a pipe the bytes are the tool's own; a terminal would act on some of them.
    if (block.type === 'text') print(process.stdout.isTTY ? printable(block.text, { keepNewlines: true }) : block.text);
    else print(`[image: ${await writeImage(folder, tool, block)}]`);
  }
}

function showProgress({ progress, total, message }: Progress): void {
  const count = progress === undefined ? [] : [total === undefined ? String(progress) : `${progress}/${total}`];
  process.stderr.write(`${printable([...count, ...(message === undefined ? [] : [message])].join(' '))}\n`);
}

function unknownTool(name: string, names: readonly string[]): ExtensionHostError {
  const nearest = nearestName(name, names);
  const mend =
    nearest === undefined
      ? 'none is offered: name servers in a file and give it with --config, or an extension with --extension'
      : `did you mean "${nearest}"? caldera tools lists all ${names.length}`;
  return new ExtensionHostError('INVALID_ARGUMENT', `there is no tool "${name}"; ${mend}`);
}

function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError('It must be a number of seconds.');
}
