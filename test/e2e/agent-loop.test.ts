/** A whole agent: the AI SDK's loop, a host, its threads and real server processes. Only the model is a script. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ExtensionHostOptions, mcpExtension } from '../../src/host/index.ts';
import { answersIn, runAgent } from '../support/agent-loop.ts';
import { makeHost, openSession } from '../support/extension-fixtures.ts';
import { fakeServer, readFakeServerLog } from '../support/fake-server.ts';
import { waitUntil } from '../support/processes.ts';
import { makeWorkspace } from '../support/workspace.ts';

const SECRET = ['Jt5', 'nC9', 'hX2', 'gV7'].join('');

const hostOf = (modes: string, options: ExtensionHostOptions = {}, env: Record<string, string> = {}) =>
  makeHost([mcpExtension({ servers: { fake: fakeServer(modes, { env }) }, environment: false })], options);

const lastAnswers = ({ requests }: Awaited<ReturnType<typeof runAgent>>): readonly unknown[][] => {
  const last = requests.at(-1);
  return last ? answersIn(last) : [];
};

test("an image tool's picture is in the next request to the model", async () => {
  const session = await openSession(hostOf('normal'));
  const run = await runAgent(session, [[{ name: 'image' }], 'seen']);
  expect(run.text).toBe('seen');
  expect(run.requests).toHaveLength(2);
  expect(lastAnswers(run)).toEqual([
    [{ type: 'image-data', mediaType: 'image/png', data: expect.stringMatching(/^iVBOR[A-Za-z0-9+/]+=*$/) }],
  ]);
});

test('a secret in the stderr of a server that died reads [REDACTED] there', async () => {
  const env = { FAKE_MCP_DIE_MESSAGE: `cannot log in with ${SECRET}` };
  const session = await openSession(hostOf('die-after-first-call', { secrets: [SECRET] }, env));
  const run = await runAgent(session, [
    [{ name: 'echo', arguments: { text: 'hi' } }, { name: 'slow' }],
    [{ name: 'echo', arguments: { text: 'again' } }],
    'done',
  ]);
  const [first, died, again] = lastAnswers(run);
  expect(first).toEqual([{ type: 'text', text: 'hi' }]);
  expect(died).toEqual([
    { type: 'text', text: expect.stringMatching(/exited \(3\).*cannot log in with \[REDACTED\]/s) },
  ]);
  expect(again).toEqual([{ type: 'text', text: 'again' }]);
  expect(JSON.stringify(run.requests)).not.toContain(SECRET);
});

test('aborting the run cancels the call at the server', async () => {
  const log = join(makeWorkspace('log'), 'events');
  const session = await openSession(hostOf('log-calls', {}, { FAKE_MCP_LOG: log }));
  const controller = new AbortController();
  const run = runAgent(session, [[{ name: 'slow' }], 'never said'], { signal: controller.signal });
  const failed = expect(run).rejects.toMatchObject({ name: 'AbortError' });
  await waitUntil(() => readFakeServerLog(log, 'call').length > 0, 'the call');
  controller.abort();
  await failed;
  await waitUntil(() => readFakeServerLog(log, 'cancelled').length > 0, 'the cancellation at the server');
});

test('a parallel batch on a sequential server stays in order', async () => {
  const log = join(makeWorkspace('log'), 'events');
  const session = await openSession(hostOf('counter,log-calls', {}, { FAKE_MCP_LOG: log }));
  const batch = [1, 10, 100, 1000].map((by) => ({ name: 'increment', arguments: { by } }));
  const run = await runAgent(session, [[...batch, { name: 'value' }], 'done']);
  expect(lastAnswers(run).map(([part]) => part)).toEqual(
    ['1', '11', '111', '1111', '1111'].map((text) => ({ type: 'text', text })),
  );
  const order = readFakeServerLog(log).filter(({ event }) => event === 'call' || event === 'answered');
  expect(order.map(({ event }) => event)).toEqual(Array.from({ length: 10 }, (_, i) => (i % 2 ? 'answered' : 'call')));
});

test('built-in tools stay, and only active tools reach the model', async () => {
  const read = { name: 'read', description: 'Reads.', parameters: { type: 'object' }, execute: () => 'the built-in' };
  const host = hostOf('builtin-clash,counter', { builtinTools: [read] });
  const session = await openSession(host, { activeTools: ['read', 'echo'] });
  const run = await runAgent(session, [
    [{ name: 'read' }, { name: 'increment' }, { name: 'echo', arguments: { text: 'x' } }],
    'done',
  ]);
  expect(run.requests[0]?.tools?.map(({ name }) => name).sort()).toEqual(['echo', 'read']);
  expect(lastAnswers(run)).toEqual([[{ type: 'text', text: 'the built-in' }], [{ type: 'text', text: 'x' }]]);
});

test('a denied call reaches the model with its reason', async () => {
  const host = hostOf('counter', {
    approve: (_call, { source }) => ({ decision: source.server === 'fake' ? 'deny' : 'allow', reason: 'not today' }),
  });
  const run = await runAgent(await openSession(host), [[{ name: 'increment' }], 'done']);
  expect(lastAnswers(run)).toEqual([[{ type: 'text', text: expect.stringContaining('not today') }]]);
});
