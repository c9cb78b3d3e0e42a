import { Command } from 'commander';
import { printable } from '../../shared/printable.ts';
import type { CommandFactory } from './cli-command.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { addHostFlags, type HostFlags } from './host-flags.ts';
import { useSession } from './one-session.ts';
import { addJsonFlag, print } from './print.ts';

interface McpFlags extends HostFlags {
  readonly json?: boolean;
}

const HELP = `
It opens a session, which lists each server's tools, and shows what /mcp shows in a chat. No server is called.

Examples:
  $ caldera mcp --config caldera.json           every server with its state and number of tools
  $ caldera mcp --config caldera.json github    one: its command, tools, last error and the end of its stderr`;

/** `caldera mcp`: the state of the MCP servers, as the command /mcp shows it in a chat. */
export const mcpCommand: CommandFactory = (finish) =>
  addJsonFlag(addHostFlags(new Command('mcp')))
    .description('the MCP servers and their state, as /mcp shows them in a chat')
    .argument('[name]', 'one server in detail')
    .addHelpText('after', HELP)
    .action(async (name: string | undefined, flags: McpFlags) => finish(await showServers(name, flags)));

async function showServers(name: string | undefined, flags: McpFlags): Promise<ExitCode> {
  const { text, failures } = await useSession(flags, async (session) => ({
    ...(await session.runCommand('mcp', name ?? '')),
    failures: session.failures,
  }));
  // The answer about a server begins with its name and state; anything else says that there is none of that name.
  const known = name === undefined || text.startsWith(`${printable(name)}: `);
  if (!known) process.stderr.write(`caldera: ${text}\n`);
  else print(flags.json ? JSON.stringify({ text, failures }, null, 2) : text);
  return known ? EXIT.done : EXIT.usage;
}
