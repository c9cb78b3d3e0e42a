/** What sandboxed code that computes, or is stopped over and over, may take from the others. */
import { readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, test } from 'vitest';
import type { Session } from '../../../src/host/index.ts';
import { makeDropInHost, toolOf } from '../../support/drop-ins.ts';
import { openSession, textOf } from '../../support/extension-fixtures.ts';
import { processStat } from '../../support/processes.ts';

test('a session whose guests are stopped again and again waits for the next one, and others do not', async () => {
  const { host } = await makeDropInHost([
    {
      source: toolOf(
        "if (params.leak) { const all = []; for (;;) all.push(new Array(1000).fill(0)); } return text('fine');",
      ),
    },
  ]);
  const [bad, good] = [await openSession(host), await openSession(host)];
  const leak = async (): Promise<void> => {
    const { details } = await bad.callTool({ name: 'run', arguments: { leak: true } });
    expect(details?.error?.code).toBe('THREAD_MEMORY');
  };
  const msOf = async (session: Session): Promise<number> => {
    const from = performance.now();
    expect(textOf(await session.callTool({ name: 'run' }))).toBe('fine');
    return performance.now() - from;
  };
  await leak();
  const first = await msOf(bad);
  for (let stops = 0; stops < 3; stops++) await leak();
  const [later, beside] = await Promise.all([msOf(bad), msOf(good)]);
  // The fourth waits a second.
  expect(later).toBeGreaterThan(990);
  expect(first).toBeLessThan(later / 2);
  expect(beside).toBeLessThan(later / 2);
});

test.each([
  ['one long turn', 400, 1],
  ['many short ones', 40, 12],
])('a thread whose guests compute goes behind the others: in %s', async (_how, ms, calls) => {
  const { host } = await makeDropInHost([
    { source: toolOf("const end = Date.now() + params.ms; while (Date.now() < end); return text('fine');") },
  ]);
  const session = await openSession(host);
  const yielding = threadsBehind();
  for (let call = 0; call < 20; call++) await session.callTool({ name: 'run', arguments: { ms: 1 } });
  expect(threadsBehind()).toBe(yielding);
  for (let call = 0; call < calls; call++) await session.callTool({ name: 'run', arguments: { ms } });
  expect(threadsBehind()).toBe(yielding + 1);
});

/** Threads of this process with a lower priority than its own. */
function threadsBehind(): number {
  return readdirSync('/proc/self/task').filter((thread) => (processStat(Number(thread))?.nice ?? 0) > getPriority())
    .length;
}
