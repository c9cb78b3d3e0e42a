import { expect, test } from 'vitest';
import { makeHost, openSession } from '../../support/extension-fixtures.ts';

test('sessions with the same tools share one table, and it is frozen', async () => {
  const host = makeHost(['calls.mjs']);
  const [one, two] = await Promise.all([openSession(host), openSession(host)]);
  expect(one.tools.length).toBeGreaterThan(0);
  for (const [i, tool] of one.tools.entries()) expect(two.tools[i]).toBe(tool);
  expect(Object.isFrozen(one.tools[0]?.parameters)).toBe(true);
});

test('a session whose tools have changed has a table of its own; the others keep theirs', async () => {
  const host = makeHost(['greets.mjs']);
  const [one, two] = await Promise.all([openSession(host), openSession(host)]);
  await Promise.all(
    [one, two].map((session) => new Promise<void>((resolve) => session.on('tools-changed', () => resolve()))),
  );
  expect(one.tools[0]).toBe(two.tools[0]);
  await one.close();
  expect(two.tools.map(({ name }) => name)).toEqual(['late']);
});

test('`await using` ends a session and a host', async () => {
  const host = makeHost(['neighbour.mjs']);
  const session = await openSession(host);
  // What `await using` does; Node 20 cannot parse it.
  await session[Symbol.asyncDispose]();
  await expect(session.callTool({ name: 'count' })).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
  expect(host.inspect().sessions).toEqual([]);
  await host[Symbol.asyncDispose]();
  await expect(openSession(host)).rejects.toMatchObject({ code: 'HOST_CLOSED' });
});

test('a subscription ends when its function is called, on a host as on a session', async () => {
  const host = makeHost(['talks.mjs']);
  const session = await openSession(host);
  const seen: string[] = [];
  const ends = [
    host.on('log', ({ message }) => seen.push(message)),
    host.on('extension-state', ({ state }) => seen.push(state)),
    session.on('notify', ({ text }) => seen.push(text)),
  ];
  for (const end of ends) end();
  await session.callTool({ name: 'talk', arguments: { text: 'x' } });
  await host.close();
  expect(seen).toEqual([]);
});
