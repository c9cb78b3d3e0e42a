import { expect, test } from 'vitest';
import type { Session } from '../../../src/host/index.ts';
import { extensionFile, makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';

const SECRET = ['Zx9', 'kQ2', 'vL7', 'pW4'].join('');

const asks = async (session: Session, name: string, args: Record<string, never> | object = {}): Promise<unknown> => {
  const result = await session.callTool({ name, arguments: args as Record<string, never> });
  return result.isError ? textOf(result) : JSON.parse(textOf(result));
};

const hostEnv = () => ({ PATH: process.env['PATH'], HOME: '/home/x', PLAIN: 'plain', SERVICE_TOKEN: SECRET });

test("a thread's own environment and what it prepares hold no host secret, but the owner mark and the session's zone", async () => {
  const host = makeHost(['asks-host.mjs'], { hostEnv });
  const session = await openSession(host, { timeZone: 'Asia/Tokyo' });
  const own = await asks(session, 'own_environment');
  expect(own).toMatchObject({
    PLAIN: 'plain',
    HOME: '/home/x',
    CALDERA_OWNER: expect.stringMatching(new RegExp(`^${process.pid}:\\d+:[0-9a-f]{8}$`)),
  });
  expect(own).not.toHaveProperty('SERVICE_TOKEN');
  const env = { SERVICE_TOKEN: 'given on purpose', PLAIN: null };
  const prepared = await asks(session, 'prepare', { env });
  expect(prepared).toMatchObject({
    session: { command: 'true', args: ['x'], cwd: '/', env: { SERVICE_TOKEN: 'given on purpose', TZ: 'Asia/Tokyo' } },
    thread: { env: { SERVICE_TOKEN: 'given on purpose' } },
  });
  expect(prepared).not.toHaveProperty('session.env.PLAIN');
  expect(prepared).not.toHaveProperty('thread.env.TZ');
});

test('every preparation has an id of its own, after a death of the thread too', async () => {
  const host = makeHost(['asks-host.mjs']);
  const session = await openSession(host);
  const ids = new Set<string>();
  for (let i = 0; i < 2; i++) {
    const prepared = (await asks(session, 'prepare')) as { session: { id: string }; thread: { id: string } };
    ids.add(prepared.session.id).add(prepared.thread.id);
    await session.callTool({ name: 'die_producing', arguments: { key: 'x' } });
  }
  expect(ids.size).toBe(4);
});

test('a variable is answered when it was granted, and is redacted from then on', async () => {
  const host = makeHost([{ path: extensionFile('asks-host.mjs'), env: ['SERVICE_TOKEN', 'NOT_SET'] }], { hostEnv });
  const session = await openSession(host);
  expect(await asks(session, 'variable', { name: 'HOME' })).toMatch(/may not read the host variable HOME/);
  expect(textOf(await session.callTool({ name: 'variable', arguments: { name: 'NOT_SET' } }))).toBe('undefined');
  expect(textOf(await session.callTool({ name: 'variable', arguments: { name: 'SERVICE_TOKEN' } }))).toBe('[REDACTED]');
});

test('a value is produced once for all sessions, and anew after it was dropped', async () => {
  const host = makeHost(['asks-host.mjs']);
  const sessions = await Promise.all([1, 2, 3].map(() => openSession(host)));
  const first = await Promise.all(sessions.map((session) => asks(session, 'once', { key: 'k' })));
  expect(first).toEqual([{ production: 1 }, { production: 1 }, { production: 1 }]);
  const [session] = sessions;
  if (!session) return expect.unreachable();
  await session.callTool({ name: 'drop', arguments: { key: 'k' } });
  expect(await asks(session, 'once', { key: 'k' })).toEqual({ production: 2 });
});

test('a failure reaches everybody who waits and is kept for its time', async () => {
  const host = makeHost(['asks-host.mjs']);
  const session = await openSession(host);
  const ask = (ttlMs: number) => asks(session, 'once', { key: 'f', fail: true, ttlMs });
  expect(await Promise.all([ask(60_000), ask(60_000)])).toEqual(['production 1 failed', 'production 1 failed']);
  expect(await ask(60_000)).toBe('production 1 failed');
  await session.callTool({ name: 'drop', arguments: { key: 'f' } });
  expect(await ask(0)).toBe('production 2 failed');
  expect(await ask(0)).toBe('production 3 failed');
});

test('two extensions do not see the values of each other', async () => {
  const host = makeHost(['asks-host.mjs', 'asks-host.mjs']);
  const session = await openSession(host);
  expect(session.failures.every(({ code }) => code === 'NAME_TAKEN')).toBe(true);
  expect(await asks(session, 'once', { key: 'k' })).toEqual({ production: 1 });
});

test('a producer that dies leaves the key to the next one', async () => {
  const host = makeHost(['asks-host.mjs']);
  const session = await openSession(host);
  expect((await session.callTool({ name: 'die_producing', arguments: { key: 'k' } })).details?.error?.code).toBe(
    'THREAD_EXITED',
  );
  expect(await asks(session, 'once', { key: 'k' })).toEqual({ production: 1 });
});
