/** The host program looks at each call before it is sent. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Approve, mcpExtension } from '../../../src/host/index.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { fakeServer, readFakeServerLog } from '../../support/fake-server.ts';
import { waitUntil } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const builtin = { name: 'read', description: 'x', parameters: { type: 'object' }, execute: () => 'read' };

function hostWith(approve: Approve, limits = {}) {
  const log = join(makeWorkspace('log'), 'events');
  const servers = { fake: fakeServer('log-calls', { env: { FAKE_MCP_LOG: log } }) };
  const host = makeHost([mcpExtension({ servers })], { approve, limits, builtinTools: [builtin] });
  return { host, sent: () => readFakeServerLog(log, 'call') };
}

test('a call is judged by its arguments, its descriptor and its session, built-in tools too', async () => {
  const seen: unknown[] = [];
  const { host } = hostWith((call, { name, source }, session) => {
    seen.push([structuredClone(call), name, source.kind, source.server, session.cwd]);
    // What is looked at is a copy.
    (call.arguments as Record<string, unknown>)['text'] = 'changed';
    return 'allow';
  });
  const session = await openSession(host);
  expect(textOf(await session.callTool({ name: 'echo', arguments: { text: 'hi' } }))).toBe('hi');
  expect(textOf(await session.callTool({ name: 'read' }))).toBe('read');
  expect(seen).toEqual([
    [{ name: 'echo', arguments: { text: 'hi' } }, 'echo', 'extension', 'fake', session.cwd],
    [{ name: 'read', arguments: {} }, 'read', 'built-in', undefined, session.cwd],
  ]);
});

test.each<[string, Approve, RegExp]>([
  ['a denial', () => ({ decision: 'deny', reason: 'the page is not trusted' }), /the page is not trusted/],
  ['one without a reason', () => 'deny', /was not approved/],
  ['an answer that is neither', () => true as unknown as 'allow', /was not approved/],
  ['a throw', () => Promise.reject(new Error('no dialog')), /no dialog/],
])('%s is an error result with its reason, and nothing is sent', async (_what, approve, reason) => {
  const { host, sent } = hostWith(approve);
  const session = await openSession(host);
  const result = await session.callTool({ name: 'echo', arguments: { text: 'hi' } });
  expect(result).toMatchObject({ isError: true, details: { outcome: 'not-sent', error: { code: 'TOOL_DENIED' } } });
  expect(textOf(result)).toMatch(reason);
  expect(sent()).toEqual([]);
  expect(host.inspect().processes.filter((each) => each.session !== undefined)).toEqual([]);
});

test('it is bounded; an abort, the timeout and the end of the session end it, and it is told', async () => {
  const asked: AbortSignal[] = [];
  const approve: Approve = (_call, _descriptor, _session, { signal }) => {
    asked.push(signal);
    return new Promise(() => {});
  };
  const { host, sent } = hostWith(approve, { approvalMs: 300 });
  const session = await openSession(host);
  const call = { name: 'echo', arguments: { text: 'hi' } };
  const late = await session.callTool(call);
  expect(late).toMatchObject({ details: { outcome: 'not-sent', error: { code: 'TOOL_DENIED' } } });
  expect(textOf(late)).toContain('not approved within 0.3 s');

  const controller = new AbortController();
  const aborted = session.callTool(call, { signal: controller.signal });
  await waitUntil(() => asked.length === 2, 'the second question');
  controller.abort();
  await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' });

  const timedOut = await session.callTool(call, { timeoutMs: 20 });
  expect(timedOut).toMatchObject({ details: { outcome: 'not-sent', error: { code: 'CALL_TIMEOUT' } } });

  const ended = session.callTool(call);
  await waitUntil(() => asked.length === 4, 'the fourth question');
  await session.close();
  expect(await ended).toMatchObject({ details: { outcome: 'not-sent', error: { code: 'SESSION_CLOSED' } } });
  expect(asked.map(({ aborted: over }) => over)).toEqual([true, true, true, true]);
  expect(sent()).toEqual([]);
});

test('a call that no tool would take is not asked about', async () => {
  let asked = 0;
  const { host } = hostWith(() => {
    asked += 1;
    return 'allow';
  });
  const session = await openSession(host, { activeTools: ['echo'] });
  for (const call of [{ name: 'nothing' }, { name: 'read' }]) {
    expect((await session.callTool(call)).isError).toBe(true);
  }
  expect(asked).toBe(0);
});
