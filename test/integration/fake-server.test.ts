import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { fakeServer, readFakeServerLog } from '../support/fake-server.ts';
import { isAlive, waitUntil, waitUntilEnded } from '../support/processes.ts';
import { makeWorkspace } from '../support/workspace.ts';

const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

interface Running {
  readonly client: Client;
  readonly pid: number;
  readonly stderr: () => string;
}

/** Starts the fake with the bare SDK client; nothing is sent before `client.connect(transport)`. */
function start(modes: string, options: { args?: string[]; env?: Record<string, string>; cwd?: string } = {}) {
  const { command, args, env } = fakeServer(modes, options);
  const transport = new StdioClientTransport({
    command,
    args: [...(args ?? [])],
    env: env as Record<string, string>,
    cwd: options.cwd ?? makeWorkspace(),
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const client = new Client({ name: 'test', version: '0' });
  clients.push(client);
  return { client, transport, stderr: () => stderr };
}

async function connect(modes: string, options: Parameters<typeof start>[1] = {}): Promise<Running> {
  const { client, transport, stderr } = start(modes, options);
  await client.connect(transport);
  return { client, pid: transport.pid ?? 0, stderr };
}

/** The SDK's own listing rejects a tool without an inputSchema, so it is asked with a loose schema. */
async function listTools(client: Client) {
  const Tools = z.object({ tools: z.array(z.looseObject({ name: z.string(), inputSchema: z.unknown().optional() })) });
  return (await client.request({ method: 'tools/list' }, Tools)).tools;
}

function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  return client.request({ method: 'tools/call', params: { name, arguments: args } }, CallToolResultSchema);
}

async function textOf(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const [block] = (await call(client, name, args)).content;
  return block?.type === 'text' ? block.text : `a block of type ${block?.type}`;
}

async function imageOf(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Buffer> {
  const image = (await call(client, name, args)).content.find((block) => block.type === 'image');
  return Buffer.from(image?.data ?? '', 'base64');
}

const sizeOfPng = (png: Buffer) => [png.readUInt32BE(16), png.readUInt32BE(20)];

// MCP-82
describe('normal', () => {
  test('offers the odd names, a name over 48 characters and a tool without a schema', async () => {
    const { client } = await connect('normal');
    const tools = await listTools(client);
    const names = tools.map((tool) => tool.name);
    expect(names).toEqual(
      expect.arrayContaining(['echo', 'image', 'fail', 'slow', 'pid', 'weird.name/x', 'weird_name_x', 'no_schema']),
    );
    expect(names.some((name) => name.length > 48)).toBe(true);
    expect(tools.find((tool) => tool.name === 'no_schema')).not.toHaveProperty('inputSchema');
    expect(tools.every((tool) => !('run' in tool))).toBe(true);
  });

  test('answers with a text, a PNG of one pixel, its pid, and an error that has content', async () => {
    const { client, pid } = await connect('normal');
    expect(await textOf(client, 'echo', { text: 'hello' })).toBe('hello');
    expect(await textOf(client, 'pid')).toBe(String(pid));
    expect(sizeOfPng(await imageOf(client, 'image'))).toEqual([1, 1]);
    expect(await call(client, 'fail', { text: 'no' })).toMatchObject({ isError: true, content: [{ text: 'no' }, {}] });
  });

  test('slow logs that it was cancelled', async () => {
    const log = join(makeWorkspace(), 'log');
    const { client, pid } = await connect('log-calls', { env: { FAKE_MCP_LOG: log } });
    const abort = new AbortController();
    const pending = client.request({ method: 'tools/call', params: { name: 'slow' } }, CallToolResultSchema, {
      signal: abort.signal,
    });
    const rejected = expect(pending).rejects.toThrow();
    await waitUntil(() => readFakeServerLog(log, 'call').length === 1, 'the call at the server');
    abort.abort();
    await rejected;
    await waitUntil(() => readFakeServerLog(log, 'cancelled').length === 1, 'the cancellation at the server');
    expect(readFakeServerLog(log, 'cancelled')).toEqual([{ event: 'cancelled', pid }]);
    expect(readFakeServerLog(log, 'answered')).toEqual([]);
  });

  test('ends when its stdin does', async () => {
    const { client, pid } = await connect('normal');
    expect(isAlive(pid)).toBe(true);
    await client.close();
    await waitUntilEnded([pid]);
  });
});

describe('starts and ends', () => {
  test('crash-on-start leaves a traceback', async () => {
    const { client, transport, stderr } = start('crash-on-start');
    await expect(client.connect(transport)).rejects.toThrow();
    await waitUntil(() => stderr().includes('Traceback'), 'the traceback');
  });

  test('hang-on-start never answers initialize', async () => {
    const { client, transport } = start('hang-on-start');
    await expect(client.connect(transport, { timeout: 500 })).rejects.toThrow(/timed out/i);
  });

  test('die-after-first-call answers first and then ends with its message', async () => {
    const { client, pid, stderr } = await connect('die-after-first-call', {
      env: { FAKE_MCP_DIE_MESSAGE: 'disk full' },
    });
    expect(await textOf(client, 'echo', { text: 'once' })).toBe('once');
    await waitUntilEnded([pid]);
    await waitUntil(() => stderr().includes('dying: disk full\n'), 'the message on stderr');
  });

  test('count-starts logs each start with pid, cwd, arguments and, with env, the environment', async () => {
    const cwd = makeWorkspace();
    const log = join(cwd, 'log');
    const first = await connect('count-starts,env', {
      cwd,
      args: ['--verbose'],
      env: { FAKE_MCP_LOG: log, COLOUR: 'red' },
    });
    const second = await connect('count-starts', { cwd, env: { FAKE_MCP_LOG: log } });
    const starts = readFakeServerLog(log, 'start');
    expect(starts.map((entry) => entry.pid)).toEqual([first.pid, second.pid]);
    expect(starts[0]).toMatchObject({ cwd, args: ['--verbose'], env: { COLOUR: 'red' } });
    expect(starts[1]).not.toHaveProperty('env');
    expect(await textOf(first.client, 'env')).toMatch(/^COLOUR=red$/m);
  });
});

describe('added tools', () => {
  test('builtin-clash and counter combine', async () => {
    const { client } = await connect('builtin-clash,counter');
    expect((await listTools(client)).map((tool) => tool.name)).toEqual(
      expect.arrayContaining(['read', 'increment', 'value']),
    );
    await call(client, 'increment');
    expect(await textOf(client, 'increment', { by: 4 })).toBe('5');
    expect(await textOf(client, 'value')).toBe('5');
  });

  test('progress sends five notifications before its answer', async () => {
    const { client, transport } = start('progress');
    await client.connect(transport);
    // Read at the transport: the SDK's client drops a notification that arrives in one chunk with the answer behind it.
    const seen: unknown[] = [];
    const deliver = transport.onmessage;
    transport.onmessage = (message) => {
      seen.push('method' in message ? message.params?.['progress'] : 'answer');
      deliver?.(message);
    };
    const result = await client.request({ method: 'tools/call', params: { name: 'progress' } }, CallToolResultSchema, {
      onprogress: () => {},
    });
    expect(result.content).toEqual([{ type: 'text', text: 'five steps' }]);
    expect(seen).toEqual([1, 2, 3, 4, 5, 'answer']);
  });

  test('big returns text and images of the size that was asked for', async () => {
    const { client } = await connect('big');
    expect(await textOf(client, 'big')).toHaveLength(50_000);
    expect(await textOf(client, 'big', { bytes: 150 })).toHaveLength(150);
    const png = await imageOf(client, 'big', { kind: 'image' });
    expect(png).toHaveLength(4_000_000);
    expect(sizeOfPng(png)).toEqual([1, 1]);
  });

  test('with --output-dir it takes screenshots as a browser server does', async () => {
    const cwd = makeWorkspace();
    const { client } = await connect('normal', { cwd, args: ['--output-dir', join(cwd, 'out')] });
    expect(await textOf(client, 'browser_navigate', { url: 'https://example.com' })).toContain('https://example.com');
    const named = await call(client, 'browser_take_screenshot', { filename: 'browser/a.png' });
    expect(named.content.map((block) => block.type)).toEqual(['text']);
    expect(readFileSync(join(cwd, 'browser/a.png')).subarray(1, 4).toString()).toBe('PNG');
    expect(sizeOfPng(await imageOf(client, 'browser_take_screenshot'))).toEqual([1, 1]);
    expect(existsSync(join(cwd, 'out'))).toBe(true);
  });

  test('a mode it does not know ends it at once, so that a typing error in a test shows', async () => {
    const { client, transport, stderr } = start('counterr');
    await expect(client.connect(transport)).rejects.toThrow();
    await waitUntil(() => stderr().includes('no mode "counterr"'), 'the complaint');
  });
});
