/** `caldera rpc` asks its client back: `session/ui` and `session/sample`. */
import { afterEach, expect, test } from 'vitest';
import { extensionFile } from '../../support/extension-fixtures.ts';
import { waitUntil } from '../../support/processes.ts';
import { RpcClient, type RpcMessage } from './rpc-client.ts';

let client: RpcClient;

afterEach(async () => {
  client.process.stdin.end();
  await client.exited;
});

function start(): RpcClient {
  client = new RpcClient(['--extension', extensionFile('asks-person.mjs')]).read();
  return client;
}

/** The n-th request that the host has sent. */
const asked = (method: string, n = 0): Promise<RpcMessage> =>
  waitUntil(
    () => client.messages.filter((message) => message.method === method && message.id !== undefined)[n],
    `${method}; stderr: ${client.stderr}`,
  );

const reply = ({ id }: RpcMessage, answer: object): void => client.write({ jsonrpc: '2.0', id, ...answer });
const call = (name: string, args: object) => client.send('tool/call', { sessionId: 's', name, arguments: args });
const said = async (id: number) =>
  ((await client.answer(id)).result as { content: { text: string }[] }).content[0]?.text;

test('a session with ui: true asks its client, which answers, closes or refuses', async () => {
  start();
  await client.result('session/open', { sessionId: 's', cwd: client.cwd, ui: true });
  const first = call('confirm', { title: 'Sure?', text: 'really' });
  const question = await asked('session/ui');
  expect(question.params).toEqual({
    sessionId: 's',
    kind: 'confirm',
    title: 'Sure?',
    text: 'really',
    extension: 'asks-person',
  });
  reply(question, { result: { value: true } });
  expect(await said(first)).toBe('true');

  const second = call('select', { title: 'Which?', options: ['a', 'b'] });
  const choice = await asked('session/ui', 1);
  expect(choice.params).toMatchObject({ kind: 'select', options: ['a', 'b'] });
  reply(choice, { result: {} });
  expect(await said(second)).toBe('nothing');

  const third = call('input', { title: 'Name?', placeholder: 'yours' });
  const input = await asked('session/ui', 2);
  expect(input.params).toMatchObject({ kind: 'input', placeholder: 'yours' });
  reply(input, { error: { code: -32601, message: 'no dialogs here' } });
  expect(await said(third)).toBe('nothing');
});

test('a cancelled call takes its question back with $/cancel, and a session without ui asks nothing', async () => {
  start();
  await client.result('session/open', { sessionId: 's', cwd: client.cwd, ui: true, sampling: false });
  const id = call('ask', { kind: 'input', title: 'Name?' });
  const question = await asked('session/ui');
  client.write({ jsonrpc: '2.0', method: '$/cancel', params: { id } });
  expect((await client.answer(id)).error?.code).toBe(-32800);
  await client.notification('$/cancel', { id: question.id });
  await client.result('session/open', { sessionId: 'quiet', cwd: client.cwd });
  expect(await client.call('quiet', 'confirm', { title: 't' })).toBe('false');
  expect(client.messages.filter(({ method }) => method === 'session/ui')).toHaveLength(1);
});

test('a session with sampling: true has the model of its client', async () => {
  start();
  await client.result('session/open', { sessionId: 's', cwd: client.cwd, sampling: true });
  const first = call('sample', { messages: [], maxTokens: 3 });
  const request = await asked('session/sample');
  expect(request.params).toEqual({
    sessionId: 's',
    extension: 'asks-person',
    server: 'me',
    messages: [],
    maxTokens: 3,
  });
  reply(request, { result: { role: 'assistant', content: { type: 'text', text: 'hello' }, model: 'm' } });
  expect(JSON.parse((await said(first)) ?? '')).toMatchObject({ model: 'm' });
  const second = call('sample', { messages: [] });
  reply(await asked('session/sample', 1), { error: { code: -1, message: 'the person said no' } });
  expect(await said(second)).toContain('the person said no');
});

test('the end of the client ends its open questions, and the host with them', async () => {
  start();
  await client.result('session/open', { sessionId: 's', cwd: client.cwd, ui: true });
  call('ask', { kind: 'input', title: 'Name?' });
  await asked('session/ui');
  client.process.stdin.end();
  expect(await client.exited).toEqual({ code: 0, signal: null });
  expect(client.stray).toEqual([]);
});
