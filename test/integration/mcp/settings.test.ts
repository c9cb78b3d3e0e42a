/** Servers of settings.json, and what happens to running ones when it changes. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type ExtensionHostOptions,
  type McpServerOptions,
  mcpExtension,
  type Session,
} from '../../../src/host/index.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { fakeServer, readFakeServerLog } from '../../support/fake-server.ts';
import { isAlive, waitUntil, waitUntilEnded } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';

type Servers = Record<string, McpServerOptions | Record<string, unknown>>;

function setUp(
  mcpServers: Servers,
  servers: Record<string, McpServerOptions> = {},
  options: ExtensionHostOptions = {},
) {
  const agentDir = makeWorkspace('agent');
  const file = join(agentDir, 'settings.json');
  const write = (entries: Servers): void => {
    writeFileSync(`${file}.new`, `// written by a person\n${JSON.stringify({ mcpServers: entries })}`);
    renameSync(`${file}.new`, file);
  };
  write(mcpServers);
  const host = makeHost([mcpExtension({ servers })], { agentDir, ...options });
  return { host, write };
}

const names = (session: Session) => session.tools.map(({ name }) => name);
const mcp = async (session: Session, args = '') => (await session.runCommand('mcp', args)).text;
const pidOf = async (session: Session, prefix = '') => Number(textOf(await session.callTool({ name: `${prefix}pid` })));

// MCP-12 MCP-13 MCP-70
describe('settings.json', () => {
  test('adds its servers behind those of the options; the first source of a name wins', async () => {
    const { host } = setUp(
      { zeta: fakeServer('normal', { toolPrefix: 'z_' }), mine: fakeServer('normal', { toolPrefix: 'theirs_' }) },
      { mine: fakeServer('normal', { toolPrefix: 'mine_' }) },
    );
    const session = await openSession(host);
    expect(names(session)).toEqual(expect.arrayContaining(['mine_echo', 'z_echo']));
    expect(names(session)).not.toContain('theirs_echo');
    expect(names(session).indexOf('mine_echo')).toBeLessThan(names(session).indexOf('z_echo'));
  });

  test('grants the variables it mentions, and their values are redacted', async () => {
    const token = 'ghp_0123456789abcdefghijABCDEFGHIJ';
    const entry = fakeServer('env', { env: { TOKEN: '${env:HOST_THING}' } });
    const hostEnv = () => ({ ...process.env, HOST_THING: token, OTHER_TOKEN: 'not-for-anybody-1' });
    const session = await openSession(setUp({ demo: entry }, {}, { hostEnv }).host);
    const text = textOf(await session.callTool({ name: 'env' }));
    expect(text).toContain('TOKEN=[REDACTED]');
    expect(text).not.toContain('OTHER_TOKEN');
  });

  test('with a bad entry is told as failed, and the others run', async () => {
    const { host } = setUp({ bad: { comand: 'x' }, good: fakeServer() });
    const session = await openSession(host);
    expect(names(session)).toContain('echo');
    expect(await mcp(session)).toMatch(/^bad: failed: .*comand: unknown key; did you mean "command"\?/m);
    expect(await mcp(session, 'bad')).toContain('last error:');
    expect(await mcp(session, 'restart bad')).toContain('cannot be restarted');
    expect(session.failures).toEqual([expect.objectContaining({ server: 'bad', code: 'CONFIG_INVALID' })]);
  });
});

// MCP-01 MCP-12 MCP-30
test('named by its path alone, the extension reads settings.json and its environment', async () => {
  const agentDir = makeWorkspace('agent');
  writeFileSync(join(agentDir, 'settings.json'), JSON.stringify({ mcpServers: { demo: fakeServer() } }));
  const bare = mcpExtension().path;
  const session = await openSession(makeHost([bare], { agentDir }));
  expect(names(session)).toContain('echo');
  const hostEnv = () => ({ ...process.env, PLAYWRIGHT_ENABLED: 'perhaps' });
  const refused = await openSession(makeHost([bare], { agentDir, hostEnv }));
  expect(refused.failures).toEqual([
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining('PLAYWRIGHT_ENABLED') }),
  ]);
});

// MCP-09 MCP-80
test('a secret that a server was given comes out nowhere: results, exit errors, /mcp', async () => {
  const secret = 'p4ss-word-0123456789';
  const entry = fakeServer('env,die-after-first-call', {
    env: { GITHUB_TOKEN: '${env:GITHUB_TOKEN}', FAKE_MCP_DIE_MESSAGE: `the token ${secret} was refused` },
  });
  const hostEnv = () => ({ ...process.env, GITHUB_TOKEN: secret });
  const session = await openSession(setUp({}, { demo: entry }, { hostEnv }).host);
  const dump = textOf(await session.callTool({ name: 'env' }));
  expect(dump).toContain('GITHUB_TOKEN=[REDACTED]');
  const died = textOf(await session.callTool({ name: 'slow' }));
  expect(died).toContain('exited (3): dying: the token [REDACTED] was refused. It restarts on the next call');
  const status = await mcp(session, 'demo');
  expect(status).toContain('the token [REDACTED] was refused');
  expect([dump, died, status].join()).not.toContain(secret);
});

// MCP-71
describe('a change of settings.json while a session is open', () => {
  test('keeps a process whose entry is the same, adds and takes away the others', async () => {
    const { host, write } = setUp({
      a: fakeServer('normal', { toolPrefix: 'a_' }),
      b: fakeServer('normal', { toolPrefix: 'b_' }),
    });
    const session = await openSession(host);
    const [a, b] = [await pidOf(session, 'a_'), await pidOf(session, 'b_')];
    write({ a: fakeServer('normal', { toolPrefix: 'a_' }), c: fakeServer('normal', { toolPrefix: 'c_' }) });
    await waitUntil(() => names(session).includes('c_echo') && !names(session).includes('b_echo'), 'the change');
    await waitUntilEnded([b]);
    expect(await pidOf(session, 'a_')).toBe(a);
    expect(isAlive(await pidOf(session, 'c_'))).toBe(true);
  });

  test('applies prefix, filters and times without a restart', async () => {
    const { host, write } = setUp({ a: fakeServer('count-starts', { toolPrefix: 'a_' }) });
    const session = await openSession(host);
    const pid = await pidOf(session, 'a_');
    const entry = fakeServer('count-starts', {
      toolPrefix: 'x_',
      tools: { include: ['pid', 'slow'] },
      callTimeoutSeconds: 0.3,
    });
    write({ a: entry });
    await waitUntil(() => names(session).includes('x_pid'), 'the change');
    expect(names(session)).toEqual(['x_slow', 'x_pid']);
    expect(await pidOf(session, 'x_')).toBe(pid);
    expect(textOf(await session.callTool({ name: 'x_slow' }))).toBe('x_slow timed out after 0.3s');
  });

  test('restarts a changed server at its next call, not before', async () => {
    const { host, write } = setUp({ a: fakeServer('env', { env: { FLAVOUR: 'old' } }) });
    const session = await openSession(host);
    const pid = await pidOf(session);
    write({ a: fakeServer('env', { env: { FLAVOUR: 'new' } }) });
    await waitUntil(async () => (await mcp(session, 'a')).includes('running') && isAlive(pid), 'the old process');
    await waitUntil(async () => textOf(await session.callTool({ name: 'env' })).includes('FLAVOUR=new'), 'the new one');
    await waitUntilEnded([pid]);
    expect(await pidOf(session)).not.toBe(pid);
  });

  test('ends a server that is switched off, and starts it again when it is switched on', async () => {
    const { host, write } = setUp({ a: fakeServer() });
    const session = await openSession(host);
    const pid = await pidOf(session);
    write({ a: fakeServer('normal', { enabled: false }) });
    // Its process and its tools go at once; neither waits for the other.
    await waitUntilEnded([pid]);
    await waitUntil(() => names(session).length === 0, 'the end of its tools');
    expect(await mcp(session)).toContain('a: disabled');
    write({ a: fakeServer() });
    await waitUntil(() => names(session).includes('echo'), 'the tools');
    expect(await pidOf(session)).not.toBe(pid);
  });
});

// MCP-72
describe('a catalogue on disk', () => {
  test('serves the next host without a discovery, and goes when the live list differs', async () => {
    const log = join(makeWorkspace('log'), 'events');
    const agentDir = makeWorkspace('agent');
    const entry = fakeServer('count-starts,grows', { env: { FAKE_MCP_LOG: log } });
    const open = () => makeHost([mcpExtension({ servers: { a: entry } })], { agentDir });
    const first = open();
    await openSession(first);
    await first.close();
    expect(readFakeServerLog(log, 'start')).toHaveLength(1);
    const next = open();
    const session = await openSession(next);
    expect(names(session)).toContain('echo');
    expect(readFakeServerLog(log, 'start')).toHaveLength(1);
    await session.callTool({ name: 'grow', arguments: { name: 'extra' } });
    await waitUntil(() => names(session).includes('extra'), 'the new tool');
    await next.close();
    await openSession(open());
    expect(readFakeServerLog(log, 'start')).toHaveLength(3);
  });
});
