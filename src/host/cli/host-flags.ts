import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { Logger } from 'pino';
import { ExtensionHostError } from '../../shared/errors.ts';
import { ExtensionHost, mcpExtension } from '../index.ts';
import { loadConfig, restrictServers } from './load-config.ts';
import { LOG_LEVEL_NAMES, type LogLevelName } from './terminal-log.ts';

/** The options that every command with a host of its own has. */
export interface HostFlags {
  readonly config?: readonly string[];
  readonly agentDir?: string;
  readonly cwd?: string;
  readonly extension?: readonly string[];
  readonly extensionDir?: readonly string[];
  readonly server?: readonly string[];
  readonly logLevel: LogLevelName;
}

const collect = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];

/** Adds the options of {@link HostFlags} to a command. */
export function addHostFlags(command: Command): Command {
  return command
    .option(
      '--config <file>',
      'configuration file (JSON with comments); can be given again, the first file wins',
      collect,
    )
    .option('--agent-dir <dir>', 'where settings and caches live (default: $CALDERA_AGENT_DIR, else ~/.caldera/agent)')
    .option(
      '--cwd <dir>',
      'workspace of sessions that name none, and what their relative ones start from (default: here)',
    )
    .option('--extension <path>', "an extension's file or folder; it is trusted; can be given again", collect)
    .option(
      '--extension-dir <dir>',
      'a folder of drop-ins, which are sandboxed; besides <agent-dir>/extensions; can be given again',
      collect,
    )
    .option('--server <name>', 'offer only this configured MCP server; can be given again', collect)
    .addOption(logLevelOption());
}

export function logLevelOption(): Option {
  return new Option('--log-level <level>', 'least level of what is logged').choices(LOG_LEVEL_NAMES).default('warn');
}

/**
 * Makes the host that the options describe; it is not started. The MCP extension is always its first.
 * @throws ExtensionHostError `CONFIG_INVALID` or `INVALID_ARGUMENT`
 */
export function createHost(flags: HostFlags, logger: Logger): ExtensionHost {
  const config = restrictServers(loadConfig(flags.config ?? [], process.env), flags.server ?? []);
  return new ExtensionHost({
    ...(flags.agentDir === undefined ? {} : { agentDir: resolve(flags.agentDir) }),
    extensions: [mcpExtension(config.mcp), ...config.extensions, ...(flags.extension ?? []).map(extensionPath)],
    extensionDirs: [...config.extensionDirs, ...(flags.extensionDir ?? []).map((folder) => resolve(folder))],
    limits: config.limits,
    secrets: config.secrets,
    logger,
  });
}

/** The folder that `--cwd` names, absolute. @throws ExtensionHostError `INVALID_ARGUMENT` */
export function workspaceOf(flags: HostFlags): string | undefined {
  if (flags.cwd === undefined) return undefined;
  const folder = resolve(flags.cwd);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new ExtensionHostError(
    'INVALID_ARGUMENT',
    `--cwd ${flags.cwd}: there is no such folder; make it, or name another`,
  );
}

function extensionPath(path: string): string {
  return path.startsWith('file:') ? path : resolve(path);
}
