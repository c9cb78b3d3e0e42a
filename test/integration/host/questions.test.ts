/** Questions of extensions to the person and the model of their session. */
import { expect, test } from 'vitest';
import type { SessionUi } from '../../../src/host/index.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { waitUntil } from '../../support/processes.ts';

const SECRET = ['Qm4', 'zR8', 'wT1', 'xB6'].join('');
const never = () => new Promise<undefined>(() => {});
const person = (ui: SessionUi = {}, limits = {}) =>
  openSession(makeHost(['asks-person.mjs'], { secrets: [SECRET], limits }), { ui });
const say = async (session: Awaited<ReturnType<typeof person>>, name: string, args = {}) =>
  textOf(await session.callTool({ name, arguments: args }));

test('without a UI and a model every question is answered at once as if it had been closed', async () => {
  const session = await openSession(makeHost(['asks-person.mjs']));
  expect(JSON.parse(await say(session, 'who'))).toEqual({ hasUI: false, canSample: false });
  expect(await say(session, 'confirm', { title: 't' })).toBe('false');
  expect(await say(session, 'select', { title: 't', options: ['a'] })).toBe('nothing');
  expect(await say(session, 'input', { title: 't' })).toBe('nothing');
  const sampled = await session.callTool({ name: 'sample', arguments: { messages: [] } });
  expect(sampled).toMatchObject({ isError: true, details: { error: { code: 'PERMISSION_DENIED' } } });
});

test('a person gets the question with its parts, and the answer comes back', async () => {
  const seen: unknown[] = [];
  const session = await person({
    confirm: async (title, { extension, text, default: preset }) => {
      seen.push(['confirm', title, extension, text, preset]);
      return true;
    },
    select: async (title, options) => {
      seen.push(['select', title, options]);
      return options[1];
    },
    input: async (title, { placeholder }) => {
      seen.push(['input', title, placeholder]);
      return 'typed';
    },
  });
  expect(JSON.parse(await say(session, 'who'))).toEqual({ hasUI: true, canSample: false });
  expect(await say(session, 'confirm', { title: 'Sure?', text: 'really' })).toBe('true');
  expect(await say(session, 'select', { title: 'Which?', options: ['a', 'b'] })).toBe('"b"');
  expect(await say(session, 'input', { title: 'Name?', placeholder: 'yours' })).toBe('"typed"');
  expect(await say(session, 'ask', { kind: 'confirm', title: 'x', default: true })).toBe('true');
  expect(seen).toEqual([
    ['confirm', 'Sure?', 'asks-person', 'really', undefined],
    ['select', 'Which?', ['a', 'b']],
    ['input', 'Name?', 'yours'],
    ['confirm', 'x', 'asks-person', undefined, true],
  ]);
});

test('what a person is shown is redacted, and an option that holds a secret is still the one that was chosen', async () => {
  const seen: unknown[] = [];
  const session = await person({
    select: async (title, options, { text }) => {
      seen.push(title, options, text);
      return options[0];
    },
  });
  const question = { kind: 'select', title: `t ${SECRET}`, options: [`key ${SECRET}`, 'b'], text: SECRET };
  // It reaches the model only redacted, as any result.
  expect(await say(session, 'ask', question)).toBe('"key [REDACTED]"');
  expect(seen).toEqual(['t [REDACTED]', ['key [REDACTED]', 'b'], '[REDACTED]']);
});

test('an answer of another kind, a throw and silence count as closed', async () => {
  const odd = await person({
    confirm: async () => 'yes' as unknown as boolean,
    select: async () => 'not among them',
    input: () => Promise.reject(new Error('no dialog')),
  });
  expect(await say(odd, 'confirm', { title: 't' })).toBe('false');
  expect(await say(odd, 'select', { title: 't', options: ['a'] })).toBe('nothing');
  expect(await say(odd, 'input', { title: 't' })).toBe('nothing');
  let closed = false;
  const silent = await person(
    {
      confirm: (_title, { signal }) => {
        signal.addEventListener('abort', () => {
          closed = true;
        });
        return never();
      },
    },
    { questionMs: 50 },
  );
  expect(await say(silent, 'confirm', { title: 't' })).toBe('false');
  expect(closed).toBe(true);
});

test('eight questions of a session are open at once; one more is HOST_BUSY, and the thread answers meanwhile', async () => {
  const waiting: ((answer: boolean) => void)[] = [];
  const session = await person({ confirm: () => new Promise((resolve) => waiting.push(resolve)) });
  const asked = say(session, 'many', { count: 9 });
  await waitUntil(() => waiting.length === 8, 'eight questions');
  expect(JSON.parse(await say(session, 'who'))).toMatchObject({ hasUI: true });
  for (const answer of waiting) answer(true);
  expect(JSON.parse(await asked)).toEqual([...Array.from({ length: 8 }, () => true), 'HOST_BUSY']);
  const again = say(session, 'confirm', { title: 'later' });
  await waitUntil(() => waiting.length === 9, 'one more question');
  waiting.at(-1)?.(true);
  expect(await again).toBe('true');
});

test('an abort of the call closes its question, and so does the end of the session', async () => {
  let shown = 0;
  let closed = 0;
  const session = await person({
    input: (_title, { signal }) => {
      shown += 1;
      signal.addEventListener('abort', () => {
        closed += 1;
      });
      return never();
    },
  });
  const controller = new AbortController();
  const question = { name: 'ask', arguments: { kind: 'input', title: 't' } };
  const aborted = session.callTool(question, { signal: controller.signal });
  await waitUntil(() => shown === 1, 'the question');
  controller.abort();
  await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' });
  await waitUntil(() => closed === 1, 'its end');
  const ended = session.callTool(question);
  await waitUntil(() => shown === 2, 'the other question');
  await session.close();
  expect(await ended).toMatchObject({ isError: true, details: { error: { code: 'SESSION_CLOSED' } } });
  expect(closed).toBe(2);
});

test("the host's model gets the request redacted, and its message comes back; what it throws is the refusal", async () => {
  const seen: unknown[] = [];
  const host = makeHost(['asks-person.mjs'], { secrets: [SECRET] });
  const session = await openSession(host, {
    onSampling: (params, { extension, server }) => {
      seen.push(params, extension, server);
      if (params['maxTokens'] === 0) throw new Error('not for free');
      return { role: 'assistant', content: { type: 'text', text: 'hello' }, model: 'test' };
    },
  });
  const messages = [{ role: 'user', content: { type: 'text', text: `say ${SECRET}` } }];
  expect(JSON.parse(await say(session, 'sample', { messages, maxTokens: 9 }))).toMatchObject({ model: 'test' });
  expect(JSON.stringify(seen)).toContain('say [REDACTED]');
  expect(seen.slice(1)).toEqual(['asks-person', 'me']);
  const refused = await session.callTool({ name: 'sample', arguments: { messages, maxTokens: 0 } });
  expect(refused).toMatchObject({ isError: true, details: { error: { code: 'PERMISSION_DENIED' } } });
  expect(textOf(refused)).toContain('not for free');
});
