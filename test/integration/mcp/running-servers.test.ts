/** What a running server may do to its session, and what bounds servers together. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type ExtensionHostOptions,
  type McpOptions,
  type McpServerOptions,
  mcpExtension,
  type Session,
} from '../../../src/host/index.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { fakeServer, readFakeServerLog } from '../../support/fake-server.ts';
import { isAlive, waitUntil, waitUntilEnded } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const hostOf = (servers: Record<string, McpServerOptions>, more: McpOptions = {}, options: ExtensionHostOptions = {}) =>
  makeHost([mcpExtension({ servers, ...more })], options);
const names = (session: Session) => session.tools.map(({ name }) => name);
const text = async (session: Session, name: string, args = {}) =>
  textOf(await session.callTool({ name, arguments: args }));
const pidOf = async (session: Session, prefix = '') => Number(await text(session, `${prefix}pid`));
const logFile = () => join(makeWorkspace('log'), 'events');

// MCP-73
describe('a server that says its tools have changed', () => {
  // MCP-51
  test('changes its session, which says so, and no other one; the next session sees it, too', async () => {
    const host = hostOf({ fake: fakeServer('grows') });
    const [one, other] = [await openSession(host), await openSession(host)];
    const told: number[] = [];
    one.on('tools-changed', (tools) => void told.push(tools.length));
    const before = names(one);
    await text(one, 'grow', { name: 'extra' });
    await waitUntil(() => names(one).includes('extra'), 'the new tool');
    expect(await text(one, 'extra')).toBe('I am extra');
    expect(names(other)).toEqual(before);
    expect(told.length).toBeGreaterThan(0);
    await text(one, 'shrink', { name: 'echo' });
    await waitUntil(() => !names(one).includes('echo'), 'the end of the tool');
    expect((await one.callTool({ name: 'echo', arguments: { text: 'x' } })).details?.error?.code).toBe('UNKNOWN_TOOL');
    expect(names(await openSession(host))).toEqual(before);
  });

  test('takes no name that is held', async () => {
    const execute = () => 'the built-in';
    const builtinTools = [{ name: 'read', description: 'x', parameters: { type: 'object' }, execute }];
    const servers = { a: fakeServer('grows'), b: fakeServer('normal', { toolPrefix: 'b_' }) };
    const session = await openSession(hostOf(servers, {}, { builtinTools }));
    for (const name of ['read', 'b_echo', 'end']) await text(session, 'grow', { name });
    await waitUntil(() => names(session).includes('end'), 'the last tool');
    expect(await text(session, 'read')).toBe('the built-in');
    expect(session.tools.find(({ name }) => name === 'b_echo')?.source.server).toBe('b');
    expect(session.failures.map(({ code, tool }) => [code, tool])).toEqual([
      ['NAME_TAKEN', 'read'],
      ['NAME_TAKEN', 'b_echo'],
    ]);
  });
});

// MCP-74
describe('filters', () => {
  test('look at the names of the server, before suffixes', async () => {
    const tools = { include: ['weird*', 'echo', 'nothing_like_this'], exclude: ['weird.*'] };
    const host = hostOf({ fake: fakeServer('normal', { tools }) });
    const warnings: string[] = [];
    host.on('log', ({ level, message }) => void (level === 'warn' && warnings.push(message)));
    const session = await openSession(host);
    expect(names(session)).toEqual(['echo', 'weird_name_x']);
    expect(session.tools[1]?.source.tool).toBe('weird_name_x');
    const status = (await session.runCommand('mcp', 'fake')).text;
    expect(status).toMatch(/tools: 2\n.*\n.*\nkept back by "tools" of its options: 7/);
    await waitUntil(() => warnings.some((line) => line.includes('nothing_like_this')), 'the warning');
  });
});

// MCP-75
describe('a server of all sessions', () => {
  test('is one process in the agent dir without a time zone, with one queue; the last session ends it', async () => {
    const log = logFile();
    const agentDir = join(makeWorkspace('agent'), 'not', 'made', 'yet');
    const entry = fakeServer('env,counter,count-starts,log-calls', { scope: 'host', env: { FAKE_MCP_LOG: log } });
    const hostEnv = () => ({ PATH: process.env['PATH'] });
    const host = hostOf({ fake: entry }, {}, { agentDir, hostEnv });
    const one = await openSession(host, { timeZone: 'Asia/Tokyo' });
    const other = await openSession(host, { timeZone: 'America/Lima' });
    await Promise.all([one, other, one].map((session) => text(session, 'increment')));
    expect(await text(other, 'value')).toBe('3');
    const pid = await pidOf(one);
    expect(await pidOf(other)).toBe(pid);
    const start = readFakeServerLog(log, 'start').find((event) => event.pid === pid);
    expect(start?.cwd).toBe(agentDir);
    expect(start?.env).not.toHaveProperty('TZ');
    const steps = readFakeServerLog(log).filter(({ event }) => event === 'call' || event === 'answered');
    // One after another: each call is answered before the next one comes.
    expect(steps.map(({ event }) => event)).toEqual(steps.map((_, i) => (i % 2 === 0 ? 'call' : 'answered')));
    expect(host.inspect().processes).toEqual([expect.not.objectContaining({ session: expect.anything() })]);
    await one.restart('new');
    await one.close();
    expect(await pidOf(other)).toBe(pid);
    await other.close();
    await waitUntilEnded([pid]);
  });

  test('is restarted for all by /mcp restart', async () => {
    const host = hostOf({ fake: fakeServer('normal', { scope: 'host' }) });
    const [one, other] = [await openSession(host), await openSession(host)];
    const pid = await pidOf(one);
    await other.runCommand('mcp', 'restart fake');
    expect(isAlive(pid)).toBe(false);
    expect(await pidOf(one)).toBe(await pidOf(other));
  });
});

// MCP-76 MCP-10 MCP-50
describe('a stop tool', () => {
  const saves = (log: string, more: Partial<McpServerOptions> = {}) =>
    fakeServer('saves', { stopTool: 'save', env: { FAKE_MCP_LOG: log }, ...more });

  test('is called before the process is ended: at close, at /new, at idle, at /mcp restart', async () => {
    const log = logFile();
    const host = hostOf({ fake: saves(log, { idleTimeoutSeconds: 0.2 }) });
    const session = await openSession(host);
    const ends: (() => unknown)[] = [
      () => session.restart('new'),
      () => session.runCommand('mcp', 'restart fake'),
      () => undefined,
      () => session.close(),
    ];
    const pids: number[] = [];
    for (const end of ends) {
      const pid = await pidOf(session);
      pids.push(pid);
      await end();
      await waitUntilEnded([pid]);
    }
    expect(readFakeServerLog(log, 'saved').map(({ pid }) => pid)).toEqual(pids);
  });

  test('is not called at a discovery, nor waited for beyond its share of the time', async () => {
    const log = logFile();
    const host = hostOf({ fake: saves(log, { stopTool: 'slow', shutdownTimeoutSeconds: 1 }) });
    const session = await openSession(host);
    const pid = await pidOf(session);
    const startedAt = performance.now();
    await session.close();
    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect(isAlive(pid)).toBe(false);
    expect(readFakeServerLog(log, 'saved')).toEqual([]);
  });
});

// MCP-77
describe('prompt sections', () => {
  // MCP-05
  test('of a server are there while one of its tools is active', async () => {
    const servers = {
      a: fakeServer('normal', { toolPrefix: 'a_', promptSection: 'Use a kindly.' }),
      b: fakeServer('normal', { toolPrefix: 'b_' }),
    };
    const host = hostOf(servers);
    const all = await openSession(host);
    expect(await all.beforeAgentStart({ prompt: '' })).toEqual({ sections: { a: 'Use a kindly.' } });
    const some = await openSession(host, { activeTools: ['b_echo'] });
    expect(await some.beforeAgentStart({ prompt: '' })).toEqual({ sections: {} });
  });
});

// MCP-78
describe('the number of processes', () => {
  test('is bounded: a call over it waits for its turn, and gives up at its time or its abort', async () => {
    const host = hostOf({ fake: fakeServer('counter') }, { maxProcesses: 1 });
    const [one, other] = [await openSession(host), await openSession(host)];
    const pid = await pidOf(one);
    const late = await other.callTool({ name: 'pid' }, { timeoutMs: 300 });
    expect(late).toMatchObject({ isError: true, details: { error: { code: 'CALL_TIMEOUT' } } });
    const aborting = new AbortController();
    const aborted = other.callTool({ name: 'pid' }, { signal: aborting.signal });
    setTimeout(() => aborting.abort(), 50);
    await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' });
    expect(host.inspect().processes.map((process) => process.pid)).toEqual([pid]);
    const waiting = other.callTool({ name: 'pid' });
    await one.restart('new');
    expect(Number(textOf(await waiting))).not.toBe(pid);
    expect(isAlive(pid)).toBe(false);
  });

  test('counts no discoveries', async () => {
    const servers = Object.fromEntries(
      ['a', 'b', 'c'].map((name) => [name, fakeServer('normal', { toolPrefix: `${name}_` })]),
    );
    const session = await openSession(hostOf(servers, { maxProcesses: 1 }));
    expect(names(session)).toEqual(expect.arrayContaining(['a_echo', 'b_echo', 'c_echo']));
  });
});

// MCP-11 MCP-66
test('the state of the preset is logged once for the host', async () => {
  const host = hostOf({});
  const lines: string[] = [];
  host.on('log', ({ message }) => void (message.startsWith('MCP: playwright') && lines.push(message)));
  await Promise.all([openSession(host), openSession(host)]);
  await waitUntil(() => lines.length > 0, 'the line');
  const session = await openSession(host);
  expect(lines).toEqual(['MCP: playwright disabled (set PLAYWRIGHT_ENABLED=true)']);
  expect((await session.runCommand('mcp')).text).toBe('playwright: disabled (set PLAYWRIGHT_ENABLED=true)');
});
