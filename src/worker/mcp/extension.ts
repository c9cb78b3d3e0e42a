import { ExtensionHostError } from '../../shared/errors.ts';
import { defineExtension } from '../../shared/extension-api.ts';
import { isRecord } from '../../shared/json.ts';
import { applyEnvironment } from '../../shared/mcp-environment.ts';
import { type McpConfig, type McpOptions, parseMcpOptions } from '../../shared/mcp-options.ts';
import { mcpCommand } from './command.ts';
import { McpInstance } from './mcp-instance.ts';

/** The MCP extension: registers the tools of the configured servers, and runs one process a session and server behind them. */
export default defineExtension(async (api) => {
  const instance = new McpInstance(api, readOptions(api.options));
  api.registerCommand('mcp', mcpCommand(instance));
  instance.followSession();
  await instance.activate();
});

/** @throws CONFIG_INVALID with every problem listed */
function readOptions(given: unknown): McpConfig {
  // `mcpExtension()` has applied the environment of the host and says so; an extension named by its path alone has its own.
  const isOpen = isRecord(given) && (given['environment'] ?? true) === true;
  const applied = isOpen ? applyEnvironment(given as McpOptions, (name) => process.env[name]) : undefined;
  const { config, problems: inOptions } = parseMcpOptions(applied?.options ?? given);
  const problems = [...inOptions, ...(applied?.problems ?? [])];
  if (problems.length === 0) return config;
  throw new ExtensionHostError('CONFIG_INVALID', `the MCP options are invalid:\n${problems.join('\n')}`, {
    data: { problems },
  });
}
