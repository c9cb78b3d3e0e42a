import { expect, test } from 'vitest';
import type { Session } from '../../../src/host/index.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';

const hostTool = {
  name: 'host_tool',
  description: 'The host program has this one.',
  parameters: { type: 'object' },
  execute: () => 'the host',
};

const names = (session: Session): string[] => session.tools.map(({ name }) => name);

const change = async (
  session: Session,
  args: { add?: string[]; remove?: string[]; active?: string[] },
): Promise<void> => {
  const changed = new Promise((resolve) => session.on('tools-changed', resolve));
  await session.callTool({ name: 'change', arguments: args });
  await changed;
};

test('a factory that fails leaves no tool, no command and no handler', async () => {
  const host = makeHost(['registers-half.ts', 'neighbour.mjs']);
  const session = await openSession(host);
  expect(names(session)).toEqual(['count']);
  expect(session.commands.map(({ name }) => name)).toEqual(['hello']);
  expect(session.failures).toMatchObject([
    { extension: 'registers-half', message: expect.stringMatching(/licence has run out/) },
  ]);
  expect(await session.beforeAgentStart({ prompt: 'x' })).toEqual({ sections: {} });
});

test('a factory that does not end is given up after its time, and nothing of it is kept', async () => {
  const host = makeHost(['never-ends.mjs', 'neighbour.mjs'], { limits: { factoryMs: 200 } });
  const session = await openSession(host);
  expect(names(session)).toEqual(['count']);
  expect(session.failures).toMatchObject([{ extension: 'never-ends', code: 'ACTIVATION_TIMEOUT' }]);
});

test('built-ins are never replaced, the first in load order has a name, and each refusal is told', async () => {
  const host = makeHost(['neighbour.mjs', 'takes-names.mjs'], { builtinTools: [hostTool] });
  const session = await openSession(host);
  expect(names(session)).toEqual(['host_tool', 'count', 'own']);
  expect(textOf(await session.callTool({ name: 'host_tool' }))).toBe('the host');
  expect(textOf(await session.callTool({ name: 'count' }))).toBe('1');
  expect(textOf(await session.callTool({ name: 'own' }))).toBe('taken over');
  const refused = session.failures.filter(({ code }) => code === 'NAME_TAKEN');
  expect(refused.map(({ extension, tool }) => `${extension} ${tool}`).sort()).toEqual([
    'takes-names count',
    'takes-names host_tool',
    'takes-names own',
  ]);
  expect(refused.find(({ tool }) => tool === 'count')?.message).toMatch(/extension neighbour/);
});

test('load order decides, however the extensions are ordered', async () => {
  const host = makeHost(['takes-names.mjs', 'neighbour.mjs']);
  const session = await openSession(host);
  expect(textOf(await session.callTool({ name: 'count' }))).toBe('taken over');
});

test('a name that is held is not taken away later', async () => {
  const host = makeHost(['changes-tools.mjs', 'neighbour.mjs']);
  const session = await openSession(host);
  await change(session, { add: ['count', 'late'] });
  expect(textOf(await session.callTool({ name: 'count' }))).toBe('1');
  expect(textOf(await session.callTool({ name: 'late' }))).toBe('ran late');
  expect(session.failures).toMatchObject([{ extension: 'changes-tools', tool: 'count', code: 'NAME_TAKEN' }]);
});

test('what is registered and removed while running shows as one change', async () => {
  const host = makeHost(['changes-tools.mjs']);
  const session = await openSession(host);
  let changes = 0;
  session.on('tools-changed', () => {
    changes += 1;
  });
  await change(session, { add: ['a', 'b', 'c'] });
  expect(names(session)).toEqual(['change', 'seen', 'a', 'b', 'c']);
  await change(session, { remove: ['a', 'b'] });
  expect(names(session)).toEqual(['change', 'seen', 'c']);
  expect(changes).toBe(2);
});

test('an extension sees every tool of its session with its source, and what is active', async () => {
  const host = makeHost(['changes-tools.mjs', 'neighbour.mjs'], { builtinTools: [hostTool] });
  const session = await openSession(host, { activeTools: ['seen', 'count'] });
  const seen: unknown = JSON.parse(textOf(await session.callTool({ name: 'seen' })));
  expect(seen).toEqual({
    all: [
      { name: 'host_tool', source: { kind: 'built-in', extension: 'host' } },
      { name: 'change', source: { kind: 'extension', extension: 'changes-tools' } },
      { name: 'seen', source: { kind: 'extension', extension: 'changes-tools' } },
      { name: 'count', source: { kind: 'extension', extension: 'neighbour' } },
    ],
    active: ['seen', 'count'],
  });
});

test('an extension can say what is active', async () => {
  const host = makeHost(['changes-tools.mjs', 'neighbour.mjs']);
  const session = await openSession(host);
  await change(session, { active: ['seen'] });
  expect(session.activeTools).toEqual(['seen']);
  expect((await session.callTool({ name: 'count' })).details?.error?.code).toBe('TOOL_INACTIVE');
});

test('sessions that offer the same share one frozen list of descriptors', async () => {
  const host = makeHost(['neighbour.mjs']);
  const [one, other] = [await openSession(host), await openSession(host)];
  expect(one.tools[0]).toBe(other.tools[0]);
  expect(Object.isFrozen(one.tools[0]?.parameters)).toBe(true);
});

test('each session has an instance of its own', async () => {
  const host = makeHost(['neighbour.mjs']);
  const [one, other] = [await openSession(host), await openSession(host)];
  await one.callTool({ name: 'count' });
  expect(textOf(await one.callTool({ name: 'count' }))).toBe('2');
  expect(textOf(await other.callTool({ name: 'count' }))).toBe('1');
});
