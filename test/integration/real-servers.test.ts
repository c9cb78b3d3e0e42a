/** The reference servers of the protocol's authors, through a whole host: what no fixture of ours made up. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { mcpExtension, type Progress } from '../../src/host/index.ts';
import { makeHost, openSession, textOf } from '../support/extension-fixtures.ts';
import { makeWorkspace } from '../support/workspace.ts';

const EVERYTHING = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
const FILESYSTEM = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'));
const MEMORY = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'));

/** A session over one real server, in a workspace of its own. */
function sessionWith(args: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
  const { cwd = makeWorkspace(), env = {} } = options;
  const host = makeHost([mcpExtension({ servers: { real: { command: process.execPath, args, env } } })]);
  return openSession(host, { cwd });
}

test('server-everything: texts, an image and progress arrive', async () => {
  const session = await sessionWith([EVERYTHING]);
  expect(session.failures).toEqual([]);
  const names = session.tools.map((tool) => tool.name);
  expect(names).toEqual(expect.arrayContaining(['echo', 'get-tiny-image', 'trigger-long-running-operation']));
  expect(textOf(await session.callTool({ name: 'echo', arguments: { message: 'hello' } }))).toContain('hello');
  const image = await session.callTool({ name: 'get-tiny-image', arguments: {} });
  expect(image.content).toContainEqual(expect.objectContaining({ type: 'image', mimeType: 'image/png' }));
  const progress: Progress[] = [];
  const long = { name: 'trigger-long-running-operation', arguments: { duration: 1, steps: 3 } };
  expect(await session.callTool(long, { onProgress: (one) => progress.push(one) })).toMatchObject({ isError: false });
  expect(progress.at(-1)?.total).toBe(3);
});

test('server-filesystem: ${workspace} reaches its arguments, odd characters included', async () => {
  const cwd = makeWorkspace();
  const session = await sessionWith([FILESYSTEM, '${workspace}'], { cwd });
  const path = join(cwd, 'note $& .txt');
  expect(await session.callTool({ name: 'write_file', arguments: { path, content: 'kept' } })).toMatchObject({
    isError: false,
  });
  expect(readFileSync(path, 'utf8')).toBe('kept');
  const outside = await session.callTool({ name: 'read_text_file', arguments: { path: '/etc/passwd' } });
  expect(outside.isError).toBe(true);
});

test('server-memory: its state is one of the session, and its structured content arrives', async () => {
  const cwd = makeWorkspace();
  const session = await sessionWith([MEMORY], { cwd, env: { MEMORY_FILE_PATH: '${workspace}/memory.json' } });
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes notes'] }];
  expect(await session.callTool({ name: 'create_entities', arguments: { entities } })).toMatchObject({
    isError: false,
  });
  const graph = await session.callTool({ name: 'read_graph', arguments: {} });
  expect(graph.structuredContent).toMatchObject({ entities });
  expect(readFileSync(join(cwd, 'memory.json'), 'utf8')).toContain('Ada');
});
