import { expect, test } from 'vitest';
import { makeHost, openSession } from '../../support/extension-fixtures.ts';
import { waitUntil } from '../../support/processes.ts';

test('what an extension says while its session opens reaches whoever subscribes once it is open, in order', async () => {
  const session = await openSession(makeHost(['greets.mjs']));
  const seen: unknown[] = [];
  session.on('message', ({ content }) => seen.push(content));
  session.on('notify', ({ text }) => seen.push(text));
  session.on('status', ({ key, text }) => seen.push(`${key}: ${text}`));
  session.on('tools-changed', (tools) => seen.push(tools.map(({ name }) => name)));
  await waitUntil(() => seen.length >= 4, 'what was said while the session opened');
  expect(seen).toEqual(['from the factory', 'started: startup', 'state: ready', ['late']]);
});

test('what is said before a later subscriber comes is not kept for it', async () => {
  const session = await openSession(makeHost(['greets.mjs']));
  const first: unknown[] = [];
  session.on('status', (status) => first.push(status));
  await waitUntil(() => first.length === 1, 'the status');
  const second: unknown[] = [];
  session.on('status', (status) => second.push(status));
  await session.restart('new');
  await waitUntil(() => second.length === 1, 'the status of the restart');
  expect(first).toHaveLength(2);
});
