/** The events of a session end to end: host, boundary, and the handlers in a thread. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/host/index.ts';
import { extensionFile, makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { waitUntil } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const path = extensionFile('events.mjs');

interface Seen extends JsonObject {
  readonly by: string;
  readonly event: string;
}

function logIn(folder = makeWorkspace('log')) {
  const file = join(folder, 'events');
  const seen = (event: string): readonly Seen[] => {
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as Seen).filter((entry) => entry.event === event);
  };
  return { file, seen };
}

test('a handler of tool_call blocks a call before it is sent; its reason is in the result', async () => {
  const { file, seen } = logIn();
  const host = makeHost([{ path, options: { log: file, name: 'guard', block: ['echo'] } }, 'calls.mjs']);
  const session = await openSession(host);
  const result = await session.callTool({ name: 'echo', arguments: { text: 'x' } });
  expect(result).toMatchObject({ isError: true, details: { outcome: 'not-sent', error: { code: 'TOOL_DENIED' } } });
  expect(textOf(result)).toBe('echo was not called: guard does not like it');
  expect(seen('tool_call')).toEqual([{ by: 'guard', event: 'tool_call', name: 'echo', arguments: { text: 'x' } }]);
});

test('built-in tools can be blocked as well, and the first that blocks ends the round', async () => {
  const { file, seen } = logIn();
  let calls = 0;
  const execute = () => {
    calls += 1;
    return 'ran';
  };
  const builtinTools = [{ name: 'bash', description: 'x', parameters: { type: 'object' }, execute }];
  const options = (name: string) => ({ path, options: { log: file, name, block: ['bash'] } });
  const host = makeHost([options('first'), options('second')], { builtinTools });
  const session = await openSession(host);
  expect(textOf(await session.callTool({ name: 'bash' }))).toContain('first does not like it');
  expect([calls, seen('tool_call').map(({ by }) => by)]).toEqual([0, ['first']]);
});

test('a handler that throws is skipped, and the call goes on', async () => {
  const { file } = logIn();
  const host = makeHost([{ path, options: { log: file, throws: ['tool_call', 'tool_result'] } }]);
  const session = await openSession(host);
  expect(textOf(await session.callTool({ name: 'own', arguments: { a: 1 } }))).toBe('{"a":1}');
});

test('tool_result observes what the caller gets, without secrets', async () => {
  const { file, seen } = logIn();
  const host = makeHost([{ path, options: { log: file } }], { secrets: ['hunter2-is-it'] });
  const session = await openSession(host);
  await session.callTool({ name: 'own', arguments: { text: 'it is hunter2-is-it' } });
  await waitUntil(() => seen('tool_result').length > 0, 'the event');
  const [event] = seen('tool_result');
  expect(event).toMatchObject({
    name: 'own',
    result: { isError: false, content: [{ type: 'text', text: '{"text":"it is [REDACTED]"}' }] },
  });
  expect(readFileSync(file, 'utf8').match(/tool_result.*hunter2/)).toBeNull();
});

test('process_spawn gets the request without secrets and adds to its environment; the marks stay', async () => {
  const { file, seen } = logIn();
  const extensions = [
    { path, options: { log: file } },
    {
      path,
      options: {
        log: file,
        name: 'a',
        env: { ADDED: 'a', PLAIN: null, CALDERA_OWNER: 'me', CALDERA_THREAD: null, TZ: 'UTC' },
      },
    },
    { path, options: { log: file, name: 'b', env: { ADDED: 'b' } } },
  ];
  const hostEnv = () => ({ PATH: '/bin', PLAIN: 'plain', MY_TOKEN: 'a-secret-1234' });
  const host = makeHost(extensions, { hostEnv });
  const session = await openSession(host, { timeZone: 'Asia/Tokyo' });
  const args = { env: { GIVEN: 'a-secret-1234' } };
  const text = textOf(await session.callTool({ name: 'prepare', arguments: args }));
  // What it was started with is the extension's own; here it comes back as a result, and so redacted.
  const { env } = JSON.parse(text) as { env: Record<string, string> };
  expect(env).toMatchObject({ PATH: '/bin', ADDED: 'b', TZ: 'UTC', GIVEN: '[REDACTED]' });
  expect(env).not.toHaveProperty('PLAIN');
  expect(env['CALDERA_OWNER']).toMatch(/^\d+:/);
  expect(env['CALDERA_THREAD']).toMatch(/^\d*:[0-9a-f]{8}:[^:]+#1$/);
  expect(seen('process_spawn').map(({ by }) => by)).toEqual(['', 'a', 'b']);
  expect(seen('process_spawn')[0]).toMatchObject({
    purpose: 'tool',
    origin: 'prepare',
    env: { PLAIN: 'plain', GIVEN: '[REDACTED]', TZ: 'Asia/Tokyo' },
  });
});

test('a process without a session sees no handlers and no time zone', async () => {
  const { file, seen } = logIn();
  const host = makeHost([{ path, options: { log: file, env: { ADDED: 'x' } } }], { hostEnv: () => ({ PATH: '/bin' }) });
  const session = await openSession(host, { timeZone: 'Asia/Tokyo' });
  const text = textOf(await session.callTool({ name: 'prepare', arguments: { sessionless: true } }));
  const { env } = JSON.parse(text) as { env: Record<string, string> };
  expect(Object.keys(env).sort()).toEqual(['CALDERA_OWNER', 'CALDERA_THREAD', 'PATH']);
  expect(seen('process_spawn')).toEqual([]);
});

test("the host's own policy comes first: it changes, replaces the filter, and refuses", async () => {
  const seen: unknown[] = [];
  const host = makeHost([{ path, options: { env: { FROM: 'handler' } } }], {
    hostEnv: () => ({ PATH: '/bin', MY_TOKEN: 'let-it-pass-1' }),
    spawnPolicy: {
      inherit: (hostEnv) => ({ MY_TOKEN: hostEnv['MY_TOKEN'] }),
      beforeSpawn: (request) => {
        seen.push(request);
        if (request.command === 'rm') throw new Error('never rm');
        return { command: '/safe/x', env: { FROM: 'host', ADDED: 'host' } };
      },
    },
  });
  const session = await openSession(host, { id: 'chat', timeZone: 'Asia/Tokyo' });
  const text = textOf(await session.callTool({ name: 'prepare' }));
  const prepared = JSON.parse(text) as { command: string; env: Record<string, string> };
  expect(prepared.command).toBe('/safe/x');
  expect(prepared.env).toMatchObject({ FROM: 'handler', ADDED: 'host', MY_TOKEN: '[REDACTED]', TZ: 'Asia/Tokyo' });
  expect(prepared.env).not.toHaveProperty('PATH');
  expect(seen[0]).toMatchObject({ extension: 'events', sessionId: 'chat', timeZone: 'Asia/Tokyo', origin: 'prepare' });
  const refused = await session.callTool({ name: 'prepare', arguments: { command: 'rm' } });
  expect(refused).toMatchObject({ isError: true, details: { error: { code: 'PERMISSION_DENIED' } } });
  expect(textOf(refused)).toContain("the host's spawn policy refused prepare: never rm");
});

test('a policy that does not answer refuses after its time', async () => {
  const host = makeHost(['events.mjs'], {
    limits: { eventHandlerMs: 50 },
    spawnPolicy: { beforeSpawn: () => new Promise(() => {}) },
  });
  const session = await openSession(host);
  expect(textOf(await session.callTool({ name: 'prepare' }))).toContain('did not answer within 50 ms');
});

test('tools_changed tells of tools that join', async () => {
  const { file, seen } = logIn();
  const session = await openSession(makeHost([{ path, options: { log: file } }]));
  await session.callTool({ name: 'late' });
  const names = () =>
    seen('tools_changed').flatMap(({ tools }) => (tools as readonly { name: string }[]).map(({ name }) => name));
  await waitUntil(() => names().includes('joined'), 'the event');
  expect(seen('tools_changed').at(-1)?.['activeTools']).toContain('joined');
});

test('settings_changed comes when api.settings is the new one, to sessions that are open', async () => {
  const { file, seen } = logIn();
  const agentDir = makeWorkspace('agent');
  const settings = join(agentDir, 'settings.json');
  writeFileSync(settings, '{ "theme": 1 }');
  const session = await openSession(makeHost([{ path, options: { log: file } }], { agentDir }));
  expect(textOf(await session.callTool({ name: 'settings' }))).toBe('{"theme":1}');
  writeFileSync(settings, '{ "theme": 2 }');
  await waitUntil(() => seen('settings_changed').length === 1, 'the event');
  expect(seen('settings_changed')[0]?.['settings']).toEqual({ theme: 2 });
  expect(textOf(await session.callTool({ name: 'settings' }))).toBe('{"theme":2}');
});

test('a settings file that cannot be used takes nothing down', async () => {
  const agentDir = makeWorkspace('agent');
  writeFileSync(join(agentDir, 'settings.json'), '{ broken');
  const warnings: string[] = [];
  const host = makeHost(['events.mjs'], { agentDir });
  host.on('log', ({ level, message }) => void (level === 'warn' && warnings.push(message)));
  const session = await openSession(host);
  expect(textOf(await session.callTool({ name: 'settings' }))).toBe('{}');
  expect(warnings.filter((text) => text.includes('settings.json'))).toHaveLength(1);
});

test('sections of the system prompt come from every handler; secrets are out of them', async () => {
  const host = makeHost(
    [
      { path, options: { sections: { a: 'first', b: 'the key is hunter2-is-it' } } },
      { path, options: { name: 'x', sections: { a: 'second' } } },
      { path, options: { name: 'y', throws: ['before_agent_start'] } },
    ],
    { secrets: ['hunter2-is-it'] },
  );
  const session = await openSession(host);
  expect(await session.beforeAgentStart({ prompt: 'hi' })).toEqual({
    sections: { a: 'second', b: 'the key is [REDACTED]' },
  });
});
