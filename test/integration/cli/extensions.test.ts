import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toolOf, writeDropIn } from '../../support/drop-ins.ts';
import { makeWorkspace } from '../../support/workspace.ts';
import { runCommandLine } from './command-line.ts';

const permissions = { storage: { maxBytes: 100 }, env: { names: ['KEY'] } };

function dropIn(source = toolOf("return 'x';"), manifest: object = { permissions }) {
  const folder = makeWorkspace('drop-ins');
  const agentDir = makeWorkspace('agent');
  const path = writeDropIn(folder, { source, manifest });
  return { path, agentDir, flags: ['--extension-dir', folder, '--agent-dir', agentDir], folder };
}

test('a grant asks on a terminal only: without one it needs --yes, and writes nothing', async () => {
  const { agentDir, flags } = dropIn();
  const refused = await runCommandLine(['extensions', 'grant', 'test.probe', ...flags]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/add --yes/) });
  expect(existsSync(join(agentDir, 'settings.json'))).toBe(false);
});

test('a grant keeps what else is in the settings, and can be for one permission or for the tier', async () => {
  const { agentDir, flags } = dropIn();
  const file = join(agentDir, 'settings.json');
  writeFileSync(file, '{\n  // mine\n  "theme": "dark"\n}\n');
  expect(
    (await runCommandLine(['extensions', 'grant', 'test.probe', '--permission', 'storage', '--yes', ...flags])).code,
  ).toBe(0);
  expect(readFileSync(file, 'utf8')).toMatch(/\/\/ mine\n {2}"theme": "dark"/);
  const listed = JSON.parse((await runCommandLine(['extensions', 'test.probe', '--json', ...flags])).stdout);
  expect(listed.extensions).toEqual([
    expect.objectContaining({
      id: 'test.probe',
      tier: 'sandboxed',
      requested: permissions,
      granted: { storage: { maxBytes: 100 } },
      used: {},
      denied: {},
    }),
  ]);
  const wrong = await runCommandLine(['extensions', 'grant', 'test.probe', '--permission', 'net', '--yes', ...flags]);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringMatching(/does not request it/) });
});

test('an extension is told apart by what it is: trusted ones, broken ones, unknown ones', async () => {
  const { flags, folder } = dropIn();
  writeDropIn(folder, { name: 'broken', source: '', manifest: { permissions: { nonsense: {} } } });
  const { stdout, code } = await runCommandLine(['extensions', ...flags]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/broken[\s\S]*cannot be loaded: .*permissions\.nonsense: unknown key/);
  expect(stdout).toMatch(/test\.probe \(sandboxed\)/);
  expect(await runCommandLine(['extensions', 'nobody', ...flags])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/there is no extension nobody/),
  });
});

test('a probe lists what would be registered and what was tried, and runs nothing in Node', async () => {
  const { path } = dropIn(`
    import { storage } from 'caldera/extension';
    export default async (api) => {
      await storage.set('a', 1).catch(() => {});
      api.registerTool({ name: 'one', description: typeof process, parameters: { type: 'object' }, execute: () => '' });
      api.registerTool({ name: 'two', description: 'x', parameters: { type: 'nonsense' }, execute: () => '' });
      api.registerCommand('go', { description: 'Goes.', handler: () => '' });
      api.on('session_start', () => {});
    };`);
  const report = JSON.parse((await runCommandLine(['extensions', 'probe', path, '--json'])).stdout);
  expect(report).toMatchObject({
    id: 'test.probe',
    requested: permissions,
    tools: [{ name: 'one', description: 'undefined' }],
    commands: [{ name: 'go', description: 'Goes.' }],
    events: ['session_start'],
    failures: [expect.stringMatching(/tool two is left out/)],
    use: { denied: { storage: 1 } },
  });
});

test('a probe of what loops or does not load is ended and says why', async () => {
  const { path } = dropIn('for (;;);');
  expect(await runCommandLine(['extensions', 'probe', path])).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/limit of 1000 ms of CPU time/),
  });
});
