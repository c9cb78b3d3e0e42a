import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { extensionFile, makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { makeWorkspace } from '../../support/workspace.ts';

test('an extension is loaded from a .mjs, a .ts and a CommonJS .js file, a file: URL and a folder', async () => {
  const host = makeHost([
    'neighbour.mjs',
    'typed.ts',
    'plain.js',
    pathToFileURL(extensionFile('calls.mjs')).href,
    'folder-extension',
  ]);
  expect(await host.start()).toEqual({ failures: [] });
  const session = await openSession(host);
  expect(session.failures).toEqual([]);
  expect(textOf(await session.callTool({ name: 'greet', arguments: { name: 'you' } }))).toBe('hello you');
  expect(textOf(await session.callTool({ name: 'plain' }))).toBe('from CommonJS');
  expect(textOf(await session.callTool({ name: 'in_folder' }))).toBe('from the folder');
  expect(textOf(await session.callTool({ name: 'echo' }))).toBe('{}');
  expect(host.inspect().extensions.map(({ name }) => name)).toEqual([
    'neighbour',
    'typed',
    'plain',
    'calls',
    'folder-extension',
  ]);
});

test('two extensions of one name are told apart by a number', async () => {
  const host = makeHost(['neighbour.mjs', 'neighbour.mjs']);
  await host.start();
  expect(host.inspect().extensions.map(({ name }) => name)).toEqual(['neighbour', 'neighbour-2']);
});

test.each([
  ['throws-at-import.mjs', /a bad day at import/],
  ['exits-at-import.mjs', /exited with code 0/],
  ['no-factory.mjs', /default export must be a function/],
  ['no-such-file.mjs', /no such file or folder/],
])('%s is a failure that says why, and the others run', async (name, reason) => {
  const host = makeHost([name, 'neighbour.mjs']);
  const { failures } = await host.start();
  expect(failures).toMatchObject([{ code: 'EXTENSION_LOAD_FAILED', message: expect.stringMatching(reason) }]);
  const session = await openSession(host);
  expect(textOf(await session.callTool({ name: 'count' }))).toBe('1');
  expect(host.inspect().extensions.find(({ state }) => state === 'failed')?.failures[0]?.message).toMatch(reason);
});

test('a folder without an entry and a file of another kind say what would do', async () => {
  const folder = makeWorkspace('extension');
  writeFileSync(path.join(folder, 'notes.txt'), 'x');
  const host = makeHost([]);
  await expect(host.load(folder)).rejects.toMatchObject({
    code: 'EXTENSION_LOAD_FAILED',
    message: expect.stringMatching(/index\.ts/),
  });
  await expect(host.load(path.join(folder, 'notes.txt'))).rejects.toThrow(/\.ts, \.js, \.mjs/);
});

test('an extension that is loaded while running serves the sessions opened later', async () => {
  const host = makeHost(['calls.mjs']);
  const before = await openSession(host);
  expect(await host.load(extensionFile('neighbour.mjs'))).toBe('neighbour');
  const after = await openSession(host);
  expect(textOf(await after.callTool({ name: 'count' }))).toBe('1');
  expect((await before.callTool({ name: 'count' })).details?.error?.code).toBe('UNKNOWN_TOOL');
});

test('a reload takes the file as it is now, in open sessions too', async () => {
  const file = path.join(makeWorkspace('extension'), 'changing.mjs');
  const write = (name: string): void =>
    writeFileSync(
      file,
      `export default (api) => { api.registerTool({ name: '${name}', description: 'x', parameters: { type: 'object' }, execute: () => '${name}' }); };`,
    );
  write('old_tool');
  const host = makeHost([file]);
  const session = await openSession(host);
  const changed = new Promise((resolve) => session.on('tools-changed', resolve));
  write('new_tool');
  await host.reload(file);
  await changed;
  expect(session.tools.map(({ name }) => name)).toEqual(['new_tool']);
  expect(textOf(await session.callTool({ name: 'new_tool' }))).toBe('new_tool');
  await expect(host.reload('nothing')).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringMatching(/changing/),
  });
});

test('a failed extension runs after its file was mended and it was reloaded', async () => {
  const file = path.join(makeWorkspace('extension'), 'broken.mjs');
  writeFileSync(file, 'this is no JavaScript');
  const host = makeHost([file]);
  expect((await host.start()).failures).toHaveLength(1);
  const session = await openSession(host);
  expect(session.failures).toMatchObject([{ extension: 'broken', code: 'EXTENSION_LOAD_FAILED' }]);
  writeFileSync(
    file,
    `export default (api) => { api.registerTool({ name: 'mended', description: 'x', parameters: { type: 'object' }, execute: () => 'ok' }); };`,
  );
  await host.reload('broken');
  expect(textOf(await session.callTool({ name: 'mended' }))).toBe('ok');
});
