/** The MCP extension in its thread, over the fake server: what a host program and its chats see. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type ExtensionHost,
  type ExtensionHostOptions,
  type McpServerOptions,
  mcpExtension,
  type Session,
} from '../../../src/host/index.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { fakeServer, readFakeServerLog } from '../../support/fake-server.ts';
import { isAlive, waitUntil, waitUntilEnded, zombiesOf } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const hostOf = (servers: Record<string, McpServerOptions>, options: ExtensionHostOptions = {}): ExtensionHost =>
  makeHost([mcpExtension({ servers })], options);

const pidOf = async (session: Session, prefix = ''): Promise<number> =>
  Number(textOf(await session.callTool({ name: `${prefix}pid` })));

const logFile = (): string => join(makeWorkspace('log'), 'events');

// MCP-03 MCP-04 MCP-31 MCP-32
test('eight sessions that open at once make one discovery, and no process before the first call', async () => {
  const log = logFile();
  const host = hostOf({ fake: fakeServer('count-starts', { env: { FAKE_MCP_LOG: log } }) });
  const sessions = await Promise.all(Array.from({ length: 8 }, () => openSession(host)));
  for (const session of sessions) expect(session.failures).toEqual([]);
  const [discovery, ...others] = readFakeServerLog(log, 'start');
  expect(others).toEqual([]);
  expect(sessions.map(({ cwd }) => cwd)).not.toContain(discovery?.cwd);
  await waitUntil(() => !existsSync(discovery?.cwd ?? '/'), 'the removal of the discovery folder');
  expect(host.inspect().processes).toEqual([]);
});

// MCP-03 MCP-83
test('each session has a process of its own in its workspace, whose state is apart, and all are gone at the end', async () => {
  const log = logFile();
  const host = hostOf({ fake: fakeServer('counter,count-starts', { env: { FAKE_MCP_LOG: log } }) });
  const [one, other] = [await openSession(host), await openSession(host)];
  const increments = [1, 2, 3].map(() => one.callTool({ name: 'increment' }));
  await Promise.all([...increments, other.callTool({ name: 'increment' })]);
  expect(textOf(await one.callTool({ name: 'value' }))).toBe('3');
  expect(textOf(await other.callTool({ name: 'value' }))).toBe('1');
  const pids = [await pidOf(one), await pidOf(other)];
  const starts = readFakeServerLog(log, 'start').filter(({ pid }) => pids.includes(pid));
  expect(new Set(starts.map(({ cwd }) => cwd))).toEqual(new Set([one.cwd, other.cwd]));
  // In the order of their starts, which were at once.
  const listed = host.inspect().processes.map(({ pid, session, server }) => ({ pid, session, server }));
  const expected = [one, other].map((session, i) => ({ pid: pids[i], session: session.id, server: 'fake' }));
  expect(new Set(listed)).toEqual(new Set(expected));
  await one.close();
  await waitUntilEnded(pids.slice(0, 1));
  expect(isAlive(pids[1] ?? 0)).toBe(true);
  await host.close();
  expect(pids.filter(isAlive)).toEqual([]);
  expect(zombiesOf()).toEqual([]);
});

// MCP-37 MCP-38 MCP-53
test('a tool is offered under a safe name, described verbatim, and called by its own', async () => {
  const session = await openSession(hostOf({ fake: fakeServer('normal', { toolPrefix: 'x_' }) }));
  const names = session.tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['x_echo', 'x_weird_name_x', 'x_weird_name_x_2', 'x_no_schema']));
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,48}$/);
  const weird = session.tools.find(({ name }) => name === 'x_weird_name_x');
  expect(weird?.source).toEqual({ kind: 'extension', extension: 'mcp', server: 'fake', tool: 'weird.name/x' });
  expect(session.tools.find(({ name }) => name === 'x_no_schema')?.parameters).toEqual({ type: 'object' });
  const results = await session.callTools([{ name: 'x_weird_name_x' }, { name: 'x_weird_name_x_2' }]);
  expect(results.map(({ details }) => details?.tool)).toEqual(['weird.name/x', 'weird_name_x']);
  expect(textOf(results[0] ?? { content: [], isError: true })).not.toBe(
    textOf(results[1] ?? { content: [], isError: true }),
  );
});

// MCP-39 MCP-40
test("a built-in's name is refused with a word about a prefix, and of two servers the first by name has one", async () => {
  const builtin = { name: 'read', description: 'x', parameters: { type: 'object' }, execute: () => 'the built-in' };
  const host = hostOf({ beta: fakeServer('builtin-clash'), alpha: fakeServer() }, { builtinTools: [builtin] });
  const session = await openSession(host);
  expect(textOf(await session.callTool({ name: 'read' }))).toBe('the built-in');
  expect(session.tools.find(({ name }) => name === 'echo')?.source.server).toBe('alpha');
  const told = session.failures.map(({ server, tool, code, message }) => ({ server, tool, code, message }));
  expect(told).toContainEqual({
    server: 'beta',
    tool: 'read',
    code: 'NAME_TAKEN',
    message: expect.stringContaining('toolPrefix'),
  });
  expect(told).toContainEqual({
    server: 'beta',
    tool: 'echo',
    code: 'NAME_TAKEN',
    message: expect.stringContaining('alpha'),
  });
});

// MCP-06 MCP-35
test('a server that cannot start is a failure with its reason and harms no other; it is not tried again at once', async () => {
  const log = logFile();
  const host = hostOf({
    bad: fakeServer('count-starts,crash-on-start', { env: { FAKE_MCP_LOG: log } }),
    good: fakeServer(),
  });
  for (const session of [await openSession(host), await openSession(host)]) {
    expect(session.failures).toMatchObject([{ server: 'bad', code: 'SERVER_START_FAILED' }]);
    expect(session.failures[0]?.message).toMatch(/exited with code 1[\s\S]*RuntimeError: no database/);
    expect((await session.callTool({ name: 'echo', arguments: { text: 'x' } })).isError).toBe(false);
    expect((await session.runCommand('mcp')).text).toMatch(/bad[^\n]*failed/);
  }
  expect(readFakeServerLog(log, 'start')).toHaveLength(1);
});

// MCP-81
test('a silent server does not hold up a session longer than it may', async () => {
  const host = hostOf({ mute: fakeServer('hang-on-start', { startupTimeoutSeconds: 1 }), good: fakeServer() });
  const session = await openSession(host);
  expect(session.failures).toMatchObject([{ server: 'mute', message: expect.stringMatching(/timed out after 1s/) }]);
  expect((await session.callTool({ name: 'pid' })).isError).toBe(false);
});

test('a slow server joins when it has come, with tools-changed', async () => {
  const host = makeHost([
    mcpExtension({
      servers: { mute: fakeServer('hang-on-start', { startupTimeoutSeconds: 2 }), good: fakeServer() },
      activationWaitSeconds: 0.2,
    }),
  ]);
  const session = await openSession(host);
  expect(session.failures.filter(({ server }) => server === 'mute')).toMatchObject([{ code: 'SERVER_STARTING' }]);
  await waitUntil(() => session.tools.some(({ name }) => name === 'echo'), 'the tools of the good server');
  await waitUntil(
    () => session.failures.some(({ code }) => code === 'SERVER_START_FAILED'),
    'the failure of the mute one',
  );
});

// MCP-45
test('a death in a call is told once with code and stderr, never replayed, and the next call has a new process', async () => {
  const host = hostOf({
    fake: fakeServer('die-after-first-call,counter', { env: { FAKE_MCP_DIE_MESSAGE: 'pool exhausted' } }),
  });
  const session = await openSession(host);
  const first = await session.callTool({ name: 'increment' });
  const dying = await session.callTool({ name: 'slow' });
  expect(textOf(dying)).toMatch(
    /^fake MCP server exited \(3\): [\s\S]*pool exhausted[\s\S]* It restarts on the next call; its state was lost\.$/,
  );
  expect(dying).toMatchObject({
    isError: true,
    details: { server: 'fake', outcome: 'sent-unknown', error: { code: 'SERVER_EXITED' } },
  });
  const again = await session.callTool({ name: 'increment' });
  expect(textOf(again)).toBe(textOf(first));
  expect(again.details?.epoch).not.toBe(first.details?.epoch);
});

test('an expected epoch that is gone is STATE_LOST and nothing is sent', async () => {
  const log = logFile();
  const session = await openSession(hostOf({ fake: fakeServer('counter,log-calls', { env: { FAKE_MCP_LOG: log } }) }));
  const { details } = await session.callTool({ name: 'increment' });
  const expectEpoch = details?.epoch ?? '';
  expect((await session.callTool({ name: 'increment' }, { expectEpoch })).isError).toBe(false);
  await session.restart('new');
  const lost = await session.callTool({ name: 'increment' }, { expectEpoch });
  expect(lost).toMatchObject({ isError: true, details: { outcome: 'not-sent', error: { code: 'STATE_LOST' } } });
  expect(readFakeServerLog(log, 'call')).toHaveLength(2);
  expect(textOf(await session.callTool({ name: 'value' }))).toBe('0');
});

// MCP-44
test('an abort and a timeout both reach the server, and it goes on', async () => {
  const log = logFile();
  const host = hostOf({ fake: fakeServer('log-calls', { env: { FAKE_MCP_LOG: log }, callTimeoutSeconds: 1 }) });
  const session = await openSession(host);
  const pid = await pidOf(session);
  const controller = new AbortController();
  const call = session.callTool({ name: 'slow' }, { signal: controller.signal });
  await waitUntil(() => readFakeServerLog(log, 'call').some(({ tool }) => tool === 'slow'), 'the call at the server');
  controller.abort();
  await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  await waitUntil(() => readFakeServerLog(log, 'cancelled').length === 1, 'the cancellation at the server');
  expect(textOf(await session.callTool({ name: 'slow' }))).toBe('slow timed out after 1s');
  await waitUntil(() => readFakeServerLog(log, 'cancelled').length === 2, 'the second cancellation');
  expect(await pidOf(session)).toBe(pid);
});

// MCP-08 MCP-36 MCP-79
test("a server's environment is the filtered one with its own entries, in discovery and in the session", async () => {
  const log = logFile();
  const secret = ['Tq5', 'mB8', 'xR2', 'nK7'].join('');
  const hostEnv = () => ({
    PATH: process.env['PATH'],
    HOME: '/home/x',
    OPENAI_API_KEY: 'kept back',
    SERVICE_TOKEN: secret,
    PLAIN: 'plain',
  });
  const env = { FAKE_MCP_LOG: log, SERVICE_TOKEN: '${env:SERVICE_TOKEN}', UNSET: '[${env:NOT_SET}]', PLAIN: null };
  const session = await openSession(hostOf({ fake: fakeServer('count-starts,env', { env }) }, { hostEnv }), {
    timeZone: 'Asia/Tokyo',
  });
  const said = textOf(await session.callTool({ name: 'env' }));
  const [discovery, live] = readFakeServerLog(log, 'start').map((start) => start.env);
  for (const seen of [discovery, live]) {
    expect(seen).toMatchObject({
      HOME: '/home/x',
      SERVICE_TOKEN: secret,
      UNSET: '[]',
      CALDERA_OWNER: expect.any(String),
    });
    expect(seen).not.toHaveProperty('OPENAI_API_KEY');
    expect(seen).not.toHaveProperty('PLAIN');
  }
  expect(live?.['TZ']).toBe('Asia/Tokyo');
  expect(discovery).not.toHaveProperty('TZ');
  expect(said).toContain('SERVICE_TOKEN=[REDACTED]');
});

// MCP-04 MCP-47
test('an idle process is stopped, and the next call starts one', async () => {
  const session = await openSession(hostOf({ fake: fakeServer('normal', { idleTimeoutSeconds: 0.3 }) }));
  const pid = await pidOf(session);
  await waitUntilEnded([pid]);
  expect(await pidOf(session)).not.toBe(pid);
});

// MCP-56 MCP-58 MCP-59 MCP-60
test('images, structure and errors arrive as the server gave them', async () => {
  const session = await openSession(hostOf({ fake: fakeServer('big,progress') }));
  const image = await session.callTool({ name: 'image' });
  expect(image).toMatchObject({
    isError: false,
    details: { images: 1 },
    content: [{ type: 'image', mimeType: 'image/png' }],
  });
  const failed = await session.callTool({ name: 'fail' });
  expect(failed).toMatchObject({ isError: true, details: { outcome: 'done' } });
  const messages: unknown[] = [];
  await session.callTool({ name: 'progress' }, { onProgress: ({ progress }) => messages.push(progress) });
  expect(messages.at(-1)).toBe(5);
});

test('a dead thread of the extension leaves no server, and the session goes on with a new one', async () => {
  const host = hostOf({ fake: fakeServer('counter') });
  const session = await openSession(host);
  const pid = await pidOf(session);
  await session.callTool({ name: 'increment' });
  await host.reload('mcp');
  await waitUntilEnded([pid]);
  expect(textOf(await session.callTool({ name: 'value' }))).toBe('0');
});
