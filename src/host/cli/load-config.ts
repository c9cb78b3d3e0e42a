import { ExtensionHostError } from '../../shared/errors.ts';
import { setOwn } from '../../shared/json.ts';
import { nearestName } from '../../shared/nearest-name.ts';
import { type CliConfig, readConfigFile } from './config-file.ts';

/**
 * Reads and merges configuration files. The first file that names a server, a limit or the waiting time decides it;
 * extensions and secrets add up.
 * @throws ExtensionHostError `CONFIG_INVALID` with every problem of every file
 */
export function loadConfig(files: readonly string[], env: Readonly<Record<string, string | undefined>>): CliConfig {
  const read = files.map((file) => readConfigFile(file, env));
  const problems = read.flatMap((file) => file.problems);
  if (problems.length > 0) throw configError(problems);
  return merge(read.map(({ config }) => config));
}

/** Leaves only the named servers. @throws ExtensionHostError `CONFIG_INVALID` when one is not configured */
export function restrictServers(config: CliConfig, names: readonly string[]): CliConfig {
  if (names.length === 0) return config;
  const all = Object.entries(config.mcp.servers ?? {});
  const known = all.map(([name]) => name);
  const problems = names.filter((name) => !known.includes(name)).map((name) => unknownServer(name, known));
  if (problems.length > 0) throw configError(problems);
  const servers = {};
  for (const [name, server] of all) if (names.includes(name)) setOwn(servers, name, server);
  return { ...config, mcp: { ...config.mcp, servers } };
}

/** One line a problem, so that all can be mended at once. */
function configError(problems: readonly string[]): ExtensionHostError {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  const list = problems.map((problem) => `\n  ${problem}`).join('');
  return new ExtensionHostError('CONFIG_INVALID', `the configuration has ${count}:${list}`, { data: { problems } });
}

function unknownServer(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  const mend = nearest === undefined ? 'none is: give a file with --config' : `did you mean "${nearest}"?`;
  return `--server ${name}: no such server is configured; ${mend}`;
}

function merge(configs: readonly CliConfig[]): CliConfig {
  const servers = {};
  for (const { mcp } of configs) {
    for (const [name, server] of Object.entries(mcp.servers ?? {})) {
      if (!Object.hasOwn(servers, name)) setOwn(servers, name, server);
    }
  }
  // The last one spread wins, so the first file comes last.
  const backwards = [...configs].reverse();
  return {
    mcp: { ...Object.assign({}, ...backwards.map(({ mcp }) => mcp)), servers },
    extensions: configs.flatMap(({ extensions }) => extensions),
    extensionDirs: configs.flatMap(({ extensionDirs }) => extensionDirs),
    limits: Object.assign({}, ...backwards.map(({ limits }) => limits)),
    secrets: configs.flatMap(({ secrets }) => secrets),
  };
}
