import { Command } from 'commander';
import type { CommandFactory } from './cli-command.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { addHostFlags, type HostFlags } from './host-flags.ts';
import { useSession } from './one-session.ts';
import { addJsonFlag, hasColour, print } from './print.ts';
import { failuresText, toolListText } from './tool-list-text.ts';

interface ToolsFlags extends HostFlags {
  readonly json?: boolean;
  readonly schema?: boolean;
}

const HELP = `
What could not be offered is listed as well, with the reason; the exit code is then 1.

Examples:
  $ caldera tools --config caldera.json
  $ caldera tools --config caldera.json --server github --schema
  $ caldera tools --extension ./my-extension.ts --json`;

/** `caldera tools`: what a session would offer to a model. */
export const toolsCommand: CommandFactory = (finish) =>
  addJsonFlag(addHostFlags(new Command('tools')))
    .description('the tools that a session offers, grouped by server')
    .option('--schema', "show each tool's parameters")
    .addHelpText('after', HELP)
    .action(async (flags: ToolsFlags) => finish(await listTools(flags)));

async function listTools(flags: ToolsFlags): Promise<ExitCode> {
  const { json = false, schema = false } = flags;
  const { tools, failures } = await useSession(flags, async (session) => ({
    tools: session.tools,
    failures: session.failures,
  }));
  if (json) print(JSON.stringify({ tools, failures }, null, 2));
  else {
    if (tools.length > 0) print(toolListText(tools, { schema, colour: hasColour() }));
    else print('No tools. Name servers in a file and give it with --config, or an extension with --extension.');
    if (failures.length > 0) print(`\n${failuresText(failures)}`);
  }
  return failures.length === 0 ? EXIT.done : EXIT.reported;
}
