import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeWorkspace } from '../../support/workspace.ts';
import { runCommandLine } from './command-line.ts';

describe('the command line', () => {
  it('teaches with --help: commands, examples and exit codes, on stdout', async () => {
    const { code, stdout, stderr } = await runCommandLine(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const word of ['demo', 'rpc', 'Examples:', 'Exit codes:']) expect(stdout).toContain(word);
    expect((await runCommandLine(['rpc', '--help'])).stdout).toContain('"method":"tool/call"');
  });

  it('ends with 2 for a wrong command or option, names the nearest one, and leaves stdout empty', async () => {
    const wrong = await Promise.all([
      runCommandLine(['dmo']),
      runCommandLine(['rpc', '--extensoin', 'x']),
      runCommandLine(['rpc', '--log-level', 'loud']),
      runCommandLine(['tools', '--nothing-like-it']),
      runCommandLine([]),
    ]);
    expect(wrong.map(({ code, stdout }) => ({ code, stdout }))).toEqual(wrong.map(() => ({ code: 2, stdout: '' })));
    expect(wrong.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining('demo'),
      expect.stringContaining('--extension'),
      expect.stringContaining('debug, info, warn, error, silent'),
      expect.stringContaining('unknown option'),
      expect.stringContaining('Usage: caldera'),
    ]);
  });

  it('ends with 2 for a configuration with problems, all of them listed with file and line', async () => {
    const folder = makeWorkspace('config');
    const file = join(folder, 'caldera.json');
    writeFileSync(file, '{\n  // ours\n  "mcp": { "servers": { "a": { "comand": "x" } } },\n  "secret": []\n}\n');
    const { code, stdout, stderr } = await runCommandLine(
      ['rpc', '--config', 'caldera.json', '--config', 'none.json'],
      { cwd: folder },
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('caldera.json:3: mcp.servers.a.comand: unknown key; did you mean "command"?');
    expect(stderr).toContain('caldera.json:3: mcp.servers.a.command: is missing');
    expect(stderr).toContain('caldera.json:4: secret: unknown key; did you mean "secrets"?');
    expect(stderr).toContain('none.json: cannot be read: there is no such file');
    expect(stderr).not.toContain('    at ');
  });

  it('ends with 2 for a --cwd that is no folder and a --server that is not configured', async () => {
    const [folder, server] = await Promise.all([
      runCommandLine(['rpc', '--cwd', '/no/such/folder']),
      runCommandLine(['rpc', '--server', 'github']),
    ]);
    expect(folder).toMatchObject({ code: 2, stderr: expect.stringContaining('--cwd /no/such/folder') as unknown });
    expect(server).toMatchObject({ code: 2, stderr: expect.stringContaining('--server github') as unknown });
  });
});
