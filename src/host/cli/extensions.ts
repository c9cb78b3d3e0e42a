import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { ExtensionHostError } from '../../shared/errors.ts';
import { PERMISSION_KEYS, type PermissionKey, type Permissions, type Tier } from '../../shared/sandbox.ts';
import { writeGrant } from '../policy/grant-file.ts';
import { probeExtension } from '../probe-extension.ts';
import { readUntrusted } from '../untrusted-extension.ts';
import type { CommandFactory } from './cli-command.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { findExtensions, type ListedExtension } from './extension-listing.ts';
import { extensionText, permissionsText, probeText } from './extensions-text.ts';
import { addHostFlags, type HostFlags } from './host-flags.ts';

interface ExtensionsFlags extends HostFlags {
  readonly json?: boolean;
}

interface GrantFlags extends ExtensionsFlags {
  readonly permission?: readonly string[];
  readonly tier?: Tier;
  readonly yes?: boolean;
}

const HELP = `
Without a grant a drop-in has no permission at all. A grant is for exactly the content that was looked at: when a file of
the extension changes, it is void.

Examples:
  $ caldera extensions --extension-dir ./drop-ins
  $ caldera extensions probe ./drop-ins/weather
  $ caldera extensions grant acme.weather --permission net --extension-dir ./drop-ins`;

const collect = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];

/** `caldera extensions`: what drop-ins asked for, were granted, used and were refused; grants; probes. */
export const extensionsCommand: CommandFactory = (finish) => {
  const list = addHostFlags(new Command('extensions'))
    .description('extensions and their permissions: requested, granted, used, denied')
    .argument('[id]', 'only this one')
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP)
    .action(async (id: string | undefined, flags: ExtensionsFlags) => finish(await runList(id, flags)));
  const grant = addHostFlags(new Command('grant'))
    .description('grant a drop-in what it requests, for exactly the content it has now')
    .argument('<id>')
    .option('--permission <key>', `only this permission (${PERMISSION_KEYS.join(', ')}); can be given again`, collect)
    .option('--tier <tier>', '"trusted": it runs with everything this program may do')
    .option('--yes', 'do not ask')
    .option('--json', 'print one JSON document')
    .action(async (id: string, _flags: GrantFlags, command: Command) =>
      finish(await runGrant(id, command.optsWithGlobals())),
    );
  const probe = new Command('probe')
    .description('list what an extension would register, without any permission')
    .argument('<path>')
    .option('--json', 'print one JSON document')
    .action(async (path: string, _flags: object, command: Command) =>
      finish(await runProbe(path, command.optsWithGlobals())),
    );
  for (const sub of [grant, probe]) {
    sub.exitOverride();
    list.addCommand(sub);
  }
  return list;
};

async function runList(id: string | undefined, flags: ExtensionsFlags): Promise<ExitCode> {
  const all = await findExtensions(flags);
  const shown = id === undefined ? all : [findById(all, id)];
  if (flags.json) print(JSON.stringify({ extensions: shown.map(asJson) }, null, 2));
  else if (shown.length === 0)
    print('There are no extensions: name one with --extension, or a folder of drop-ins with --extension-dir.');
  else print(shown.map(extensionText).join('\n\n'));
  return EXIT.done;
}

async function runGrant(id: string, flags: GrantFlags): Promise<ExitCode> {
  const found = findById(await findExtensions(flags), id);
  const { content, agentDir } = found;
  if (!content)
    throw new ExtensionHostError(
      'INVALID_ARGUMENT',
      `${id} cannot be granted anything: ${found.problem ?? 'you named it, so it is trusted'}`,
    );
  const permissions = chosen(content.manifest.permissions, flags.permission);
  const tier = tierOf(flags.tier);
  if (!flags.json) {
    print(`${content.id}: ${content.location}\n${content.hash}`);
    // What it does before anybody vouches for it; a trusted one need not run in the engine.
    print(
      tier === 'trusted'
        ? 'It will run as trusted: with everything this program may do.'
        : probeText(await probeExtension(content)),
    );
    print(permissionsText('to be granted', permissions));
  }
  if (flags.yes !== true && !(await isConfirmed())) return EXIT.usage;
  const grant = { hash: content.hash, permissions, ...(tier === undefined ? {} : { tier }) };
  const file = writeGrant(agentDir, content.id, grant);
  print(flags.json ? JSON.stringify({ id: content.id, file, ...grant }, null, 2) : `Granted; written to ${file}.`);
  return EXIT.done;
}

async function runProbe(path: string, { json = false }: { readonly json?: boolean }): Promise<ExitCode> {
  const content = await readUntrusted(path);
  const report = await probeExtension(content);
  const { id, hash, manifest } = content;
  if (json)
    print(JSON.stringify({ id, hash, requested: manifest.permissions, tier: manifest.tier, ...report }, null, 2));
  else print(`${id}: ${hash}\n${permissionsText('requests', manifest.permissions)}\n${probeText(report)}`);
  return EXIT.done;
}

function findById(all: readonly ListedExtension[], id: string): ListedExtension {
  const found = all.find((one) => one.id === id);
  if (found) return found;
  const known = all.map((one) => one.id).join(', ') || 'none; name a folder with --extension-dir';
  throw new ExtensionHostError('INVALID_ARGUMENT', `there is no extension ${id}; there are: ${known}`);
}

function chosen(requested: Permissions, keys: readonly string[] | undefined): Permissions {
  if (keys === undefined) return requested;
  for (const key of keys) {
    if (!PERMISSION_KEYS.includes(key as PermissionKey)) {
      throw new ExtensionHostError('INVALID_ARGUMENT', `--permission ${key}: there are ${PERMISSION_KEYS.join(', ')}`);
    }
    if (requested[key as PermissionKey] === undefined) {
      throw new ExtensionHostError('INVALID_ARGUMENT', `--permission ${key}: the extension does not request it`);
    }
  }
  return Object.fromEntries(Object.entries(requested).filter(([key]) => keys.includes(key)));
}

function tierOf(given: string | undefined): Tier | undefined {
  if (given === undefined || given === 'sandboxed') return undefined;
  if (given === 'trusted') return given;
  throw new ExtensionHostError('INVALID_ARGUMENT', `--tier ${given}: it is "trusted" or "sandboxed"`);
}

async function isConfirmed(): Promise<boolean> {
  if (!process.stdin.isTTY) {
    process.stderr.write('caldera: nothing was granted: there is no terminal to ask on; look at it and add --yes\n');
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question('Grant it? [y/N] ')).trim());
  } finally {
    terminal.close();
  }
}

function asJson({ content: _content, agentDir: _agentDir, ...listed }: ListedExtension): object {
  return listed;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
