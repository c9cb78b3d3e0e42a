import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { grantDropIn, makeDropInHost, toolOf, writeDropIn } from '../../support/drop-ins.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { waitUntil } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const named = (name: string, says = name): string =>
  `export default (api) => { api.registerTool({ name: '${name}', description: 'x', parameters: { type: 'object' }, execute: async () => '${says}' }); };`;
const namesOf = (host: Awaited<ReturnType<typeof makeDropInHost>>['host']) =>
  host.inspect().extensions.map(({ name }) => name);

test('files, and folders with a manifest or an index, are found one level deep, sorted, once by their real path', async () => {
  const folder = makeWorkspace('drop-ins');
  writeDropIn(folder, { name: 'zeta', source: named('z') });
  writeFileSync(join(folder, 'alpha.js'), named('a'));
  writeFileSync(join(folder, 'beta.mjs'), named('b'));
  writeDropIn(folder, { name: 'with-index', source: named('i'), files: {} });
  writeDropIn(folder, { name: 'with-manifest', source: named('m'), manifest: { id: 'acme.manifest' } });
  mkdirSync(join(folder, 'packed'));
  writeFileSync(
    join(folder, 'packed', 'package.json'),
    JSON.stringify({ caldera: { id: 'acme.packed', main: './lib.js' } }),
  );
  writeFileSync(join(folder, 'packed', 'lib.js'), named('p'));
  mkdirSync(join(folder, 'empty', 'deeper'), { recursive: true });
  writeFileSync(join(folder, 'empty', 'deeper', 'index.ts'), named('d'));
  writeFileSync(join(folder, 'types.d.ts'), 'export {};');
  writeFileSync(join(folder, '.hidden.ts'), named('h'));
  writeFileSync(join(folder, 'readme.md'), '#');
  symlinkSync(join(folder, 'alpha.js'), join(folder, 'zz-again.js'));
  const host = makeHost([], { extensionDirs: [folder, folder] });
  await host.start();
  expect(namesOf(host)).toEqual(['alpha', 'beta', 'acme.packed', 'with-index', 'acme.manifest', 'zeta']);
  expect(host.inspect().extensions.map(({ tier }) => tier)).toEqual(Array.from({ length: 6 }, () => 'sandboxed'));
  const session = await openSession(host);
  expect(session.tools.map(({ name }) => name)).toEqual(['a', 'b', 'p', 'i', 'm', 'z']);
});

test('the folder of the agent directory is read by itself, and what the operator named is no drop-in there', async () => {
  const agentDir = makeWorkspace('agent');
  mkdirSync(join(agentDir, 'extensions'));
  const path = writeDropIn(join(agentDir, 'extensions'), {
    name: 'own',
    source: 'export default () => { if (!globalThis.process) throw new Error("no Node"); };',
  });
  writeDropIn(join(agentDir, 'extensions'), { name: 'other', source: named('o') });
  const host = makeHost([path], { agentDir });
  await host.start();
  expect(host.inspect().extensions.map(({ name, tier }) => [name, tier])).toEqual([
    ['own', 'trusted'],
    ['other', 'sandboxed'],
  ]);
  expect((await openSession(host)).failures).toEqual([]);
});

test('a bad drop-in is reported with its reason, and the others run', async () => {
  const { host } = await makeDropInHost([
    { name: 'bad-key', source: named('k'), manifest: { permissions: { omnipotence: {} } } },
    { name: 'bad-limit', source: named('l'), manifest: { limits: { memoryMb: 'much' } } },
    { name: 'bad-main', source: named('m'), manifest: { main: '../outside.ts' } },
    { name: 'bad-syntax', source: 'export default (' },
    { name: 'no-factory', source: 'export const x = 1;' },
    { name: 'ok', source: named('ok') },
  ]);
  const { failures } = await host.start();
  const said = Object.fromEntries(failures.map(({ extension, message }) => [extension.split('/').pop(), message]));
  expect(said['bad-key']).toMatch(/permissions\.omnipotence: unknown key/);
  expect(said['bad-limit']).toMatch(/limits\.memoryMb: must be a positive whole number/);
  expect(said['bad-main']).toMatch(/missing|outside/);
  expect(said['bad-syntax']).toMatch(/bad-syntax\.ts/);
  expect(said['no-factory']).toMatch(/no factory/);
  expect((await openSession(host)).tools.map(({ name }) => name)).toEqual(['ok']);
  expect(host.inspect().extensions.find(({ path }) => path.endsWith('bad-key'))?.tier).toBe('sandboxed');
});

test('a single file imports nothing beside it; a folder its own files, .ts by .js too, and nothing else', async () => {
  const { host } = await makeDropInHost([
    { name: 'single', source: `import './neighbour.ts'; ${named('s')}` },
    { name: 'neighbour', source: named('n') },
    {
      name: 'folder',
      source: `import { said } from './part/inner.js'; ${toolOf('return said;')}`,
      files: { 'part/inner.ts': "export { said } from '../last.mjs';", 'last.mjs': "export const said = 'inside';" },
      manifest: {},
    },
  ]);
  const { failures } = await host.start();
  expect(failures.map(({ extension, message }) => [extension, message])).toEqual([
    ['single', expect.stringMatching(/neighbour/)],
  ]);
  const session = await openSession(host);
  expect(textOf(await session.callTool({ name: 'run' }))).toBe('inside');
});

test('a reload picks up changed files, changed grants, and a drop-in that came later', async () => {
  const { host, folder, agentDir } = await makeDropInHost([{ name: 'changes', source: named('before'), manifest: {} }]);
  const session = await openSession(host);
  writeDropIn(folder, {
    name: 'changes',
    source: named('after'),
    manifest: { permissions: { storage: { maxBytes: 100 } } },
  });
  await grantDropIn(agentDir, join(folder, 'changes'), { storage: { maxBytes: 50 } });
  await host.reload('test.changes');
  expect(session.tools.map(({ name }) => name)).toEqual(['after']);
  expect(host.inspect().extensions[0]?.permissions?.granted).toEqual({ storage: { maxBytes: 50 } });
  writeDropIn(folder, { name: 'late', source: named('late') });
  await host.reload('late');
  expect((await openSession(host)).tools.map(({ name }) => name)).toEqual(['after', 'late']);
  await expect(host.reload('nobody')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

test('with watch, changes are picked up while running', async () => {
  const { host, folder } = await makeDropInHost([{ name: 'changes', source: named('before') }], { watch: true });
  const session = await openSession(host);
  const changed = new Promise<void>((resolve) => session.on('tools-changed', () => resolve()));
  writeDropIn(folder, { name: 'changes', source: named('after') });
  await changed;
  expect(session.tools.map(({ name }) => name)).toEqual(['after']);
});

test('with watch, a change just after the start is not missed', async () => {
  const { host, folder } = await makeDropInHost([{ name: 'changes', source: named('before') }], { watch: true });
  await host.start();
  writeDropIn(folder, { name: 'changes', source: named('after') });
  const session = await openSession(host);
  await waitUntil(() => session.tools[0]?.name === 'after', 'the changed tool');
});

test('a grant is for the content that was looked at: another byte, and nothing is granted', async () => {
  const { host, folder, agentDir } = await makeDropInHost([]);
  await host.close();
  const permissions = { storage: { maxBytes: 100 } };
  const path = writeDropIn(folder, { source: named('a'), manifest: { permissions }, files: { 'data.txt': 'one' } });
  await grantDropIn(agentDir, path, permissions);
  const grantedIn = async () => {
    const one = makeHost([], { agentDir, extensionDirs: [folder] });
    await one.start();
    return one.inspect().extensions[0]?.permissions?.granted;
  };
  expect(await grantedIn()).toEqual(permissions);
  writeFileSync(join(path, 'data.txt'), 'two');
  expect(await grantedIn()).toEqual({});
  writeFileSync(join(path, 'data.txt'), 'one');
  expect(await grantedIn()).toEqual(permissions);
});

test('a file that changes after it was hashed is not served', async () => {
  const { host, folder } = await makeDropInHost([
    {
      source: `${toolOf("return text(await refused(async () => (await import('./late.ts')).said));")}`,
      manifest: {},
      files: { 'late.ts': "export const said = 'first';" },
    },
  ]);
  const session = await openSession(host);
  writeFileSync(join(folder, 'probe', 'late.ts'), "export const said = 'second';");
  expect(textOf(await session.callTool({ name: 'run' }))).toMatch(/has changed since the extension was loaded/);
});

test('a drop-in that calls itself trusted is sandboxed until the operator grants it', async () => {
  const { host, folder, agentDir } = await makeDropInHost([
    { source: toolOf('return typeof process;'), manifest: { tier: 'trusted' } },
  ]);
  const session = await openSession(host);
  expect(textOf(await session.callTool({ name: 'run' }))).toBe('undefined');
  await grantDropIn(agentDir, join(folder, 'probe'), {}, 'trusted');
  await host.reload('test.probe');
  expect(host.inspect().extensions[0]?.tier).toBe('trusted');
  expect(textOf(await session.callTool({ name: 'run' }))).toBe('object');
});

test('the MCP extension can be dropped into a folder and granted', async () => {
  const folder = makeWorkspace('drop-ins');
  const agentDir = makeWorkspace('agent');
  const link = join(folder, 'mcp.ts');
  symlinkSync(fileURLToPath(new URL('../../../src/worker/mcp/extension.ts', import.meta.url)), link);
  await grantDropIn(agentDir, link, {}, 'trusted');
  const host = makeHost([], { agentDir, extensionDirs: [folder] });
  expect(await host.start()).toEqual({ failures: [] });
  expect(host.inspect().extensions.map(({ name, tier }) => [name, tier])).toEqual([['mcp', 'trusted']]);
  expect((await openSession(host)).commands.map(({ name }) => name)).toContain('mcp');
  rmSync(link);
});

test('an entry the operator named can be sandboxed, with the variables named in it', async () => {
  const folder = makeWorkspace('named');
  const path = writeDropIn(folder, {
    source: toolOf(
      "return [typeof process, await api.env.get('SHOWN'), await refused(() => api.env.get('HIDDEN')), api.options.a].join();",
    ),
  });
  const host = makeHost([{ path, tier: 'sandboxed', env: ['SHOWN'], options: { a: 'b' } }], {
    hostEnv: () => ({ PATH: '/bin', SHOWN: 'yes', HIDDEN: 'no' }),
  });
  const session = await openSession(host);
  expect(textOf(await session.callTool({ name: 'run' }))).toMatch(/^undefined,yes,PERMISSION_DENIED.*,b$/);
});

test('when the machines of all sessions hold their memory, a new session goes without', async () => {
  const { host } = await makeDropInHost([{ source: named('a') }], { limits: { sandboxTotalMb: 3 } });
  const opened = [];
  for (let i = 0; i < 4; i++) opened.push(await openSession(host));
  expect(opened[0]?.failures).toEqual([]);
  expect(opened[3]?.failures).toEqual([
    expect.objectContaining({ code: 'HOST_BUSY', message: expect.stringMatching(/3 MiB is their limit/) }),
  ]);
  expect(host.inspect().extensions[0]?.threads[0]?.sandboxMb).toBeGreaterThanOrEqual(3);
  for (const session of opened) await session.close();
  await expect.poll(() => host.inspect().extensions[0]?.threads[0]?.sandboxMb).toBe(0);
  expect((await openSession(host)).failures).toEqual([]);
});
