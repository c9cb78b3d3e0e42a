/** The reference servers of the protocol's authors, through a whole host: what no fixture of ours made up. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
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

test('server-everything: every tool is listed; texts, links, images, structure and progress arrive', async () => {
  const session = await sessionWith([EVERYTHING]);
  expect(session.failures).toEqual([]);
  expect(session.tools.map((tool) => tool.name)).toEqual([
    'echo',
    'get-annotated-message',
    'get-env',
    'get-resource-links',
    'get-resource-reference',
    'get-structured-content',
    'get-sum',
    'get-tiny-image',
    'gzip-file-as-resource',
    'toggle-simulated-logging',
    'toggle-subscriber-updates',
    'trigger-long-running-operation',
    // Offered to clients that can be asked.
    'get-roots-list',
    'trigger-elicitation-request',
    'trigger-sampling-request',
    'simulate-research-query',
  ]);
  expect(textOf(await session.callTool({ name: 'echo', arguments: { message: 'hello' } }))).toContain('hello');
  const image = await session.callTool({ name: 'get-tiny-image', arguments: {} });
  expect(image.content).toContainEqual(expect.objectContaining({ type: 'image', mimeType: 'image/png' }));
  expect(textOf(await session.callTool({ name: 'get-sum', arguments: { a: 2, b: 40 } }))).toContain('42');
  const annotated = { name: 'get-annotated-message', arguments: { messageType: 'success', includeImage: true } };
  expect(await session.callTool(annotated)).toMatchObject({ isError: false, details: { images: 1 } });
  const links = { name: 'get-resource-links', arguments: { count: 2 } };
  expect(textOf(await session.callTool(links))).toMatch(/Resource link: /);
  const weather = { name: 'get-structured-content', arguments: { location: 'New York' } };
  const structured = await session.callTool(weather);
  expect(structured.structuredContent).toEqual(JSON.parse(textOf(structured)));
  expect(structured.details?.warnings).toBeUndefined();
  const wrong = await session.callTool({ name: 'get-sum', arguments: { a: 'two', b: 1 } });
  expect(wrong).toMatchObject({ isError: true, details: { outcome: 'not-sent', error: { code: 'INVALID_ARGUMENT' } } });
  const progress: Progress[] = [];
  const long = { name: 'trigger-long-running-operation', arguments: { duration: 1, steps: 3 } };
  expect(await session.callTool(long, { onProgress: (one) => progress.push(one) })).toMatchObject({ isError: false });
  expect(progress.at(-1)?.total).toBe(3);
});

test('server-everything: its roots are the workspace; its form and its request reach the person and the model', async () => {
  const asked: string[] = [];
  const servers = { real: { command: process.execPath, args: [EVERYTHING] } };
  const session = await openSession(makeHost([mcpExtension({ servers })]), {
    ui: {
      confirm: async (title) => {
        asked.push(title);
        return true;
      },
      select: async (title, options) => {
        asked.push(title);
        return options[0];
      },
      input: async (title, { placeholder, default: preset }) => {
        asked.push(title);
        return preset ?? (placeholder === 'email' ? 'ada@example.com' : placeholder === 'date' ? '2026-01-02' : 'Ada');
      },
    },
    onSampling: () => ({ role: 'assistant', content: { type: 'text', text: 'the model says hi' }, model: 'test' }),
  });
  expect(textOf(await session.callTool({ name: 'get-roots-list' }))).toContain(pathToFileURL(session.cwd).href);
  const sample = { name: 'trigger-sampling-request', arguments: { prompt: 'hi', maxTokens: 5 } };
  expect(textOf(await session.callTool(sample))).toContain('the model says hi');
  const form = textOf(await session.callTool({ name: 'trigger-elicitation-request' }));
  expect(asked.length).toBeGreaterThan(3);
  expect(form).toMatch(/accept|provided/i);
});

test('server-filesystem: ${workspace} reaches its arguments, odd characters included', async () => {
  const cwd = makeWorkspace();
  const session = await sessionWith([FILESYSTEM, '${workspace}'], { cwd });
  expect(session.tools.map((tool) => tool.name)).toEqual([
    'read_file',
    'read_text_file',
    'read_media_file',
    'read_multiple_files',
    'write_file',
    'edit_file',
    'create_directory',
    'list_directory',
    'list_directory_with_sizes',
    'directory_tree',
    'move_file',
    'search_files',
    'get_file_info',
    'list_allowed_directories',
  ]);
  const path = join(cwd, 'note $& .txt');
  expect(await session.callTool({ name: 'write_file', arguments: { path, content: 'kept' } })).toMatchObject({
    isError: false,
  });
  expect(readFileSync(path, 'utf8')).toBe('kept');
  expect(textOf(await session.callTool({ name: 'list_directory', arguments: { path: cwd } }))).toContain(
    'note $& .txt',
  );
  const outside = await session.callTool({ name: 'read_text_file', arguments: { path: '/etc/passwd' } });
  expect(outside.isError).toBe(true);
});

test('server-memory: its state is one of the session, and its structured content arrives', async () => {
  const cwd = makeWorkspace();
  const session = await sessionWith([MEMORY], { cwd, env: { MEMORY_FILE_PATH: '${workspace}/memory.json' } });
  expect(session.tools.map((tool) => tool.name)).toEqual([
    'create_entities',
    'create_relations',
    'add_observations',
    'delete_entities',
    'delete_observations',
    'delete_relations',
    'read_graph',
    'search_nodes',
    'open_nodes',
  ]);
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes notes'] }];
  expect(await session.callTool({ name: 'create_entities', arguments: { entities } })).toMatchObject({
    isError: false,
  });
  const graph = await session.callTool({ name: 'read_graph', arguments: {} });
  expect(graph.structuredContent).toMatchObject({ entities });
  expect(readFileSync(join(cwd, 'memory.json'), 'utf8')).toContain('Ada');
});
