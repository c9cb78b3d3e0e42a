import { Command, CommanderError } from 'commander';
import { messageOf } from '../../shared/errors.ts';
import { packageVersion } from '../host-identity.ts';
import { callCommand } from './call.ts';
import type { CommandFactory } from './cli-command.ts';
import { demoCommand } from './demo.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-code.ts';
import { extensionsCommand } from './extensions.ts';
import { mcpCommand } from './mcp.ts';
import { rpcCommand } from './rpc.ts';
import { runCommand } from './run.ts';
import { toolsCommand } from './tools.ts';

/** Every command, in the order of the help. */
const COMMANDS: readonly CommandFactory[] = [
  demoCommand,
  toolsCommand,
  callCommand,
  mcpCommand,
  rpcCommand,
  runCommand,
  extensionsCommand,
];

const HELP = `
Examples:
  $ caldera demo                                   see it work; needs no configuration
  $ caldera tools --config caldera.json            the tools of the servers in that file
  $ caldera call --config caldera.json echo '{"text": "hello"}'
  $ caldera rpc --config caldera.json              run the host beside a program in any language
  $ caldera run checkout.json --config caldera.json   run a workflow on stateful servers
  $ caldera rpc --extension ./my-extension.ts      with an extension of your own

Exit codes: 0 done; 1 the tool or run reported an error; 2 usage or configuration; 3 the host failed;
128 + n a signal ended it before it was done.`;

/** Runs one command line, without the program's own name in front. Never rejects. */
export async function runCommandLine(words: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  const program = createProgram((code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...words], { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has printed its own errors, and the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    process.stderr.write(`caldera: ${messageOf(error)}\n`);
    return exitCodeOf(error);
  }
}

function createProgram(finish: (exitCode: ExitCode) => void): Command {
  const program = new Command('caldera')
    .description('A worker-thread extension host: MCP servers and extensions for many chats, off the main thread.')
    .version(packageVersion(), '-V, --version')
    .addHelpText('after', HELP)
    .showHelpAfterError('Run it with --help to see what there is.')
    .exitOverride();
  for (const create of COMMANDS) {
    const command = create(finish);
    command.copyInheritedSettings(program);
    program.addCommand(command);
  }
  return program;
}
