import { pathToFileURL } from 'node:url';
import { types } from 'node:util';
import { MessagePort } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { ExtensionHostError } from '../../../src/shared/errors.ts';
import {
  CommitSchema,
  HOST_REQUESTS,
  SessionNoteSchema,
  ThreadNoteSchema,
  ToolTableSchema,
  WireToolResultSchema,
} from '../../../src/shared/protocol.ts';
import { extensionFile } from '../../support/extension-fixtures.ts';
import { waitUntil } from '../../support/processes.ts';
import { startWire, type Wire } from './one-process.ts';

const PREPARED = { command: 'true', args: [], cwd: '/', env: {}, id: 'nonce-1' };
const ANSWERS: Readonly<Record<string, unknown>> = {
  'process.prepare': PREPARED,
  'env.get': { value: 'a value' },
  'cache.claim': { state: 'produce', ticket: 7 },
  'cache.settle': null,
  'cache.drop': null,
  'ui.confirm': { value: true },
  'ui.select': { value: 'that' },
  'ui.input': { value: 'Grace' },
  'model.sample': { message: { role: 'assistant' } },
  'question.close': null,
};
/** The engine of sandboxed extensions sends these; test/integration/sandbox has them sent. */
const SANDBOXED_ONLY = ['tool.call'];

let wire: Wire;
const requests: { readonly op: string; readonly payload: unknown }[] = [];
const nothing = z.null();

beforeAll(async () => {
  wire = startWire({
    url: pathToFileURL(extensionFile('says-everything.mjs')).href,
    onRequest: async (op, payload) => {
      requests.push({ op, payload });
      const { title } = payload as { readonly title?: string };
      return title === 'Nobody answers' ? new Promise(() => {}) : ANSWERS[op];
    },
  });
  await wire.thread.call('load', [], nothing);
});

afterAll(() => {
  const over = new ExtensionHostError('HOST_CLOSED', 'the test is over');
  wire.session.close(over);
  wire.thread.close(over);
});

test('a session opens, tells its table by digest, calls, runs commands and handles events', async () => {
  const opening = {
    sessionId: 'one',
    cwd: '/work',
    timeZone: 'Europe/Berlin',
    hasUI: true,
    canSample: true,
    snapshot: { tools: [], active: [] },
  };
  const commit = await wire.thread.call('openSession', [opening, wire.sessionPort], CommitSchema);
  expect(commit).toMatchObject({
    commands: [{ name: 'hello' }],
    events: [{ event: 'before_agent_start' }],
    failures: [],
  });
  const table = await wire.session.call('table', [commit.digest], ToolTableSchema);
  expect(table.map(({ name }) => name)).toEqual(['say_everything', 'wait']);

  const request = { callId: 'call-1', tool: 'say_everything', arguments: { name: 'Ada' }, expectEpoch: 'e' };
  const result = await wire.session.call('call', [request], WireToolResultSchema);
  expect(result).toMatchObject({
    content: [{ type: 'text', text: 'Hello Ada' }, { type: 'image' }],
    isError: false,
    structuredContent: {
      variable: 'a value',
      cached: { made: true },
      asked: [true, 'that', 'Grace', { role: 'assistant' }],
      ids: ['nonce-1', 'nonce-1'],
    },
    text: { lines: 1, bytes: 9 },
    images: 1,
  });

  const waiting = wire.session.call('call', [{ callId: 'call-2', tool: 'wait', arguments: {} }], WireToolResultSchema);
  await waitUntil(
    () => requests.filter(({ op }) => op === 'ui.confirm').length === 2,
    'the question of the second call',
  );
  wire.session.tell('cancel', ['call-2']);
  expect(await waiting).toMatchObject({ isError: true });
  expect(await wire.session.call('command', ['hello', 'you'], z.string())).toBe('hello you');
  const payload = z.record(z.string(), z.unknown()) as never;
  expect(await wire.session.call('emit', ['before_agent_start', { prompt: 'hi' }], payload)).toEqual({
    sections: { said: 'hi' },
  });
  wire.session.tell('snapshot', [{ tools: [], active: ['wait'] }]);
});

test('an error crosses with its code and without a stack', async () => {
  const unknown = wire.session.call('command', ['nothing', ''], z.string());
  await expect(unknown).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: 'there is no command nothing' });
});

test('every note and every host request of the protocol was sent, and each is in the protocol', async () => {
  await waitUntil(() => wire.sessionNotes.some(({ type }) => type === 'commit'), 'the commit of the late tool');
  await waitUntil(() => requests.some(({ op }) => op === 'cache.drop'), 'the last request');
  // Only a thread that dies says the one, and only the sandbox the other; neither is here.
  wire.runtime.note({ type: 'dying', message: 'the test says so' });
  wire.runtime.note({ type: 'permission-use', use: { used: { net: 1 }, denied: {} } });
  await waitUntil(() => wire.threadNotes.some(({ type }) => type === 'permission-use'), 'the last note');
  const variants = (schema: z.ZodType): string[] => {
    const { oneOf = [] } = z.toJSONSchema(schema, { unrepresentable: 'any' });
    return oneOf.map((one) => (one as { properties: { type: { const: string } } }).properties.type.const);
  };
  const typesOf = (notes: readonly { readonly type: string }[]) => new Set<unknown>(notes.map(({ type }) => type));
  expect(typesOf(wire.sessionNotes)).toEqual(new Set(variants(SessionNoteSchema)));
  expect(typesOf(wire.threadNotes)).toEqual(new Set(variants(ThreadNoteSchema)));
  const sent = new Set([...requests.map(({ op }) => op), ...SANDBOXED_ONLY]);
  expect(sent).toEqual(new Set(Object.keys(HOST_REQUESTS)));
  for (const { op, payload } of requests) {
    const schema = HOST_REQUESTS[op as keyof typeof HOST_REQUESTS];
    expect(schema.safeParse(payload).error, op).toBeUndefined();
  }
  expect(wire.violations).toEqual([]);
});

test('everything that crossed is plain data, the same behind a structured clone', async () => {
  wire.session.tell('close', []);
  await wire.thread.call('shutdown', [0], nothing);
  expect(wire.crossings.length).toBeGreaterThan(40);
  for (const { from, posted } of wire.crossings) {
    const bare = withoutPorts(posted);
    expect(problemIn(posted), `${from} posted ${JSON.stringify(bare).slice(0, 300)}`).toBeUndefined();
    expect(structuredClone(bare)).toEqual(bare);
  }
});

/** A session's port is the one thing that crosses and is no data. */
function withoutPorts(message: unknown): unknown {
  if (message instanceof MessagePort) return 'a port';
  if (Array.isArray(message)) return message.map(withoutPorts);
  if (typeof message !== 'object' || message === null) return message;
  return Object.fromEntries(Object.entries(message).map(([key, value]) => [key, withoutPorts(value)]));
}

/** Where a message is no plain data, if it is not. */
function problemIn(value: unknown, path = 'message'): string | undefined {
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint')
    return `${path}: ${typeof value}`;
  if (typeof value !== 'object' || value === null || value instanceof MessagePort) return undefined;
  if (types.isProxy(value)) return `${path}: a proxy`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype) return `${path}: of a class`;
  for (const [key, inner] of Object.entries(value)) {
    const problem = problemIn(inner, `${path}.${key}`);
    if (problem) return problem;
  }
  return undefined;
}
