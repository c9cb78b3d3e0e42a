import { expect, test } from 'vitest';
import { ExtensionHost, type HostEvents, type LogRecord } from '../../../src/host/index.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { waitUntil } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';

test('an id is open once; a closed one can be opened again', async () => {
  const host = makeHost(['neighbour.mjs']);
  const session = await openSession(host, { id: 'one' });
  await expect(openSession(host, { id: 'one' })).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
  await session.close();
  await session.close();
  expect(textOf(await (await openSession(host, { id: 'one' })).callTool({ name: 'count' }))).toBe('1');
});

test('a cwd that is no folder and a zone that is none are refused by name', async () => {
  const host = makeHost([]);
  const missing = `${makeWorkspace()}/missing`;
  await expect(host.openSession({ id: 'a', cwd: missing })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining(missing),
  });
  await expect(openSession(host, { timeZone: 'Mars/Olympus' })).rejects.toThrow(/Mars\/Olympus/);
  expect(host.inspect().sessions).toEqual([]);
});

test('an aborted opening rejects, and nothing of it stays', async () => {
  const host = makeHost(['never-ends.mjs']);
  const opening = openSession(host, { id: 'slow', signal: AbortSignal.timeout(100) });
  await expect(opening).rejects.toMatchObject({ code: 'ABORTED' });
  expect(host.inspect().sessions).toEqual([]);
});

test('commands, events, messages, notifications, status and failures reach the host program', async () => {
  const host = makeHost(['talks.mjs', 'neighbour.mjs']);
  const session = await openSession(host);
  const seen: unknown[] = [];
  session.on('message', (value) => seen.push(value));
  session.on('notify', (value) => seen.push(value));
  session.on('status', (value) => seen.push(value));
  await session.callTool({ name: 'talk', arguments: { text: 'x' } });
  expect(seen).toEqual([
    { level: 'warning', text: 'notify x', extension: 'talks' },
    { key: 'key', text: 'status x', extension: 'talks' },
    { customType: 'note', content: { text: 'x' }, display: true, extension: 'talks' },
  ]);
  expect(session.failures).toEqual([
    { extension: 'talks', server: 'demo', code: 'SERVER_START_FAILED', message: 'failure x' },
  ]);
  expect(await session.beforeAgentStart({ prompt: 'hi' })).toEqual({ sections: { talk: 'you said hi' } });
  expect(await session.runCommand('hello', 'you')).toEqual({ text: 'hello you' });
  await expect(session.runCommand('fails')).rejects.toThrow('the command failed');
  await expect(session.runCommand('nothing')).rejects.toThrow(/fails, hello/);
});

test('the log, stdout and stderr of a thread are log records with its name, and escape what a terminal would act on', async () => {
  const host = makeHost(['talks.mjs']);
  const records: LogRecord[] = [];
  host.on('log', (record) => records.push(record));
  const session = await openSession(host);
  await session.callTool({ name: 'talk', arguments: { text: '\u001b[2J' } });
  await waitUntil(() => records.some(({ message }) => message.includes('and the end')), 'the records');
  const messages = records
    .filter(({ extension }) => extension === 'talks')
    .map(({ level, message }) => `${level} ${message}`);
  expect(messages.join('\n')).not.toContain('\u001b');
  for (const start of ['info stdout ', 'info stderr ', 'info log ', 'info a line without its end and the end']) {
    expect(messages.some((message) => message.startsWith(start))).toBe(true);
  }
});

test('a log flood is dropped over the limit and counted', async () => {
  const host = makeHost(['talks.mjs'], { limits: { notesPerSecond: 50 } });
  const records: LogRecord[] = [];
  host.on('log', (record) => records.push(record));
  const session = await openSession(host);
  await session.callTool({ name: 'flood', arguments: { records: 1000 } });
  await waitUntil(() => records.some(({ message }) => /\d+ log records dropped/.test(message)), 'the count');
  // 50 a second, and a machine with other work may need several for the thousand.
  expect(records.filter(({ message }) => message === 'flood').length).toBeLessThan(500);
});

test('a restart shuts the conversation down and starts it on the same instance', async () => {
  const host = makeHost(['dies.mjs', 'neighbour.mjs']);
  const session = await openSession(host);
  await session.callTool({ name: 'count' });
  await session.restart('fork');
  expect(textOf(await session.callTool({ name: 'started' }))).toBe('fork');
  expect(textOf(await session.callTool({ name: 'count' }))).toBe('2');
});

test('a closed host refuses, once and for all', async () => {
  const host = makeHost(['neighbour.mjs']);
  const states: HostEvents['extension-state'][] = [];
  host.on('extension-state', (state) => states.push(state));
  const session = await openSession(host);
  await Promise.all([host.close(), host.close()]);
  expect(states.at(-1)).toMatchObject({ extension: 'neighbour', state: 'closed' });
  await expect(session.callTool({ name: 'count' })).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
  await expect(openSession(host)).rejects.toMatchObject({ code: 'HOST_CLOSED' });
});

test('a host that never started closes', async () => {
  await new ExtensionHost().close();
});

test('wrong options are refused with every problem listed', () => {
  const wrong = () => new ExtensionHost({ limits: { textBytes: -1, callTimeoutMs: 0, noSuchLimit: 1 } as never });
  expect(wrong).toThrow(/limits\.textBytes[\s\S]*limits\.noSuchLimit/);
});
