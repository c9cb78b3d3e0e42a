/** What a server asks of its client, in the middle of a call. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  type JsonObject,
  type McpServerOptions,
  mcpExtension,
  type Session,
  type SessionOptions,
} from '../../../src/host/index.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { waitUntil } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const SERVER = fileURLToPath(new URL('../../fixtures/servers/asks-client.mjs', import.meta.url));

interface Answer {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

function sessionWith(options: Partial<SessionOptions> = {}, entry: Partial<McpServerOptions> = {}): Promise<Session> {
  const demo = { command: process.execPath, args: [SERVER], ...entry };
  return openSession(makeHost([mcpExtension({ servers: { demo } })]), options);
}

async function ask(session: Session, method: string, params = {}): Promise<Answer> {
  const result = await session.callTool({ name: 'ask', arguments: { method, params } });
  expect(result.isError, textOf(result)).toBe(false);
  return JSON.parse(textOf(result)) as Answer;
}

const form = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  message: 'Please fill in',
  requestedSchema: { type: 'object', properties, required },
});

test('the root is the workspace of the session, odd characters included; the same is offered to every server', async () => {
  const log = join(makeWorkspace('log'), 'capabilities');
  const session = await sessionWith({}, { env: { ASKS_LOG: log } });
  const { result } = await ask(session, 'roots/list');
  expect(result).toEqual({ roots: [{ uri: pathToFileURL(session.cwd).href, name: expect.stringContaining('$&') }] });
  const offered = readFileSync(log, 'utf8').trim().split('\n');
  expect(offered.map((line): unknown => JSON.parse(line))).toEqual(
    offered.map(() => ({ roots: {}, elicitation: {}, sampling: {} })),
  );
});

test('a server of all sessions works in no workspace and has nobody to ask', async () => {
  const session = await sessionWith({ ui: { confirm: async () => true } }, { scope: 'host' });
  expect(await ask(session, 'roots/list')).toEqual({ result: { roots: [] } });
  expect(await ask(session, 'elicitation/create', form({}))).toEqual({ result: { action: 'decline' } });
});

test('anything else is refused at once, and a form that cannot be shown, too', async () => {
  const session = await sessionWith({ ui: {} });
  expect(await ask(session, 'ping')).toEqual({ result: {} });
  expect((await ask(session, 'tasks/list')).error?.code).toBe(-32601);
  expect((await ask(session, '__proto__')).error?.code).toBe(-32601);
  const url = { mode: 'url', message: 'sign in', url: 'https://example.com', elicitationId: 'x' };
  expect((await ask(session, 'elicitation/create', url)).error?.code).toBe(-32602);
  const nested = form({ deep: { type: 'object', properties: {} } });
  expect((await ask(session, 'elicitation/create', nested)).error?.code).toBe(-32602);
});

describe('a form', () => {
  test('is declined where there is nobody to ask, and cancelled when a question is closed', async () => {
    expect(await ask(await sessionWith(), 'elicitation/create', form({ a: { type: 'string' } }))).toEqual({
      result: { action: 'decline' },
    });
    const closes = await sessionWith({ ui: { input: async () => undefined } });
    expect(await ask(closes, 'elicitation/create', form({ a: { type: 'string' } }))).toEqual({
      result: { action: 'cancel' },
    });
  });

  test('becomes one question a field, with its title, description and default', async () => {
    const seen: unknown[] = [];
    const answers = ['Ada', '40.5', '41', 'red, blue', ''];
    const session = await sessionWith({
      ui: {
        confirm: async (title, { text, default: preset }) => {
          seen.push([title, text, preset]);
          return false;
        },
        select: async (title, options, { text, default: preset }) => {
          seen.push([title, text, preset, options]);
          return options[1];
        },
        input: async (title, { text, default: preset, placeholder }) => {
          seen.push([title, text, preset, placeholder]);
          return answers.shift();
        },
      },
    });
    const properties = {
      name: { type: 'string', title: 'Your name', description: 'As on the card', default: 'Bob' },
      age: { type: 'integer', minimum: 18 },
      news: { type: 'boolean', description: 'By mail', default: true },
      size: { type: 'string', enum: ['s', 'm'], enumNames: ['small', 'medium'], default: 's' },
      colours: { type: 'array', items: { type: 'string', enum: ['red', 'blue'] } },
      note: { type: 'string' },
    };
    const { result } = await ask(session, 'elicitation/create', form(properties, ['name', 'age']));
    expect(result).toEqual({
      action: 'accept',
      content: { name: 'Ada', age: 41, news: false, size: 'm', colours: ['red', 'blue'] },
    });
    expect(seen).toEqual([
      ['demo: Your name', 'Please fill in\nAs on the card', 'Bob', undefined],
      ['demo: age', 'Please fill in', undefined, 'a whole number'],
      ['demo: age', 'It needs a whole number.\nPlease fill in', undefined, 'a whole number'],
      ['demo: news', 'Please fill in\nBy mail', true],
      ['demo: size', 'Please fill in', 'small', ['small', 'medium']],
      ['demo: colours', 'Please fill in', undefined, 'some of: red, blue'],
      ['demo: note', 'Please fill in', undefined, undefined],
    ]);
  });

  test('without fields is a yes or a no', async () => {
    const yes = await sessionWith({ ui: { confirm: async () => true } });
    expect(await ask(yes, 'elicitation/create', form({}))).toEqual({ result: { action: 'accept', content: {} } });
    const no = await sessionWith({ ui: { confirm: async () => false } });
    expect(await ask(no, 'elicitation/create', form({}))).toEqual({ result: { action: 'decline' } });
  });

  test('stops the time of the call while the person thinks', async () => {
    let answer = (_yes: boolean): void => {};
    const waiting = new Promise<boolean>((resolve) => {
      answer = resolve;
    });
    const session = await sessionWith({ ui: { confirm: () => waiting } }, { callTimeoutSeconds: 0.3 });
    setTimeout(() => answer(true), 1000);
    expect(await ask(session, 'elicitation/create', form({}))).toMatchObject({ result: { action: 'accept' } });
  });

  test('is taken away when the server takes it back, and when the call is aborted', async () => {
    let shown = 0;
    let closed = 0;
    const session = await sessionWith({
      ui: {
        confirm: (_title, { signal }) => {
          shown += 1;
          signal.addEventListener('abort', () => {
            closed += 1;
          });
          return new Promise(() => {});
        },
      },
    });
    const question = { method: 'elicitation/create', params: form({}) };
    const taken = await session.callTool({ name: 'ask', arguments: { ...question, cancelAfterMs: 300 } });
    expect(textOf(taken)).toBe('cancelled');
    await waitUntil(() => closed === 1, 'the end of the question');
    const controller = new AbortController();
    const aborted = session.callTool({ name: 'ask', arguments: question }, { signal: controller.signal });
    await waitUntil(() => shown === 2, 'the second question');
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' });
    await waitUntil(() => closed === 2, 'the end of the second question');
  });
});

describe('a message of the model', () => {
  const params = { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 };

  test('is refused where there is none, and when it is refused, with the reason', async () => {
    expect((await ask(await sessionWith(), 'sampling/createMessage', params)).error).toMatchObject({ code: -1 });
    const session = await sessionWith({
      onSampling: () => {
        throw new Error('the budget is spent');
      },
    });
    expect((await ask(session, 'sampling/createMessage', params)).error).toEqual({
      code: -1,
      message: 'the budget is spent',
    });
  });

  test('comes from the host, which knows the server that asks', async () => {
    const seen: unknown[] = [];
    const session = await sessionWith({
      onSampling: (request, { server, extension }) => {
        seen.push(request, server, extension);
        return { role: 'assistant', content: { type: 'text', text: 'hello' }, model: 'test', stopReason: 'endTurn' };
      },
    });
    const { result } = await ask(session, 'sampling/createMessage', { ...params, _meta: { progressToken: 1 } });
    expect(result).toEqual({
      role: 'assistant',
      content: { type: 'text', text: 'hello' },
      model: 'test',
      stopReason: 'endTurn',
    });
    expect(seen).toEqual([params, 'demo', 'mcp']);
  });
});
