import { expect, test } from 'vitest';
import { pidNamespace, readProcess } from '../../../src/host/thread/process-list.ts';
import { makeHost } from '../../support/extension-fixtures.ts';
import { isAlive, waitUntilEnded } from '../../support/processes.ts';
import { startSleeper } from '../../support/sleeper.ts';

const start = readProcess('self')?.start ?? 0;
const namespace = pidNamespace();
/** Above the highest pid that Linux gives. */
const NOBODY = 4_194_305;

test('a host that starts ends what hosts that are gone have left, and nothing else', async () => {
  const mine = `${process.pid}:${start}:00000000`;
  const leftovers = [
    { CALDERA_OWNER: `${NOBODY}:5000:0badcafe`, CALDERA_THREAD: `${namespace}:0badcafe:mcp#1` },
    { CALDERA_OWNER: `${NOBODY}:5000:0badcafe` },
    // The pid is in use again, by somebody who started at another time.
    { CALDERA_OWNER: `${process.pid}:${start + 1}:0badcafe`, CALDERA_THREAD: `${namespace}:0badcafe:mcp#1` },
  ].map((env) => startSleeper({ env }));
  const others = [
    { CALDERA_OWNER: mine, CALDERA_THREAD: `${namespace}:00000000:mcp#1` },
    // The owner's pid counts in a namespace that cannot be seen from here.
    { CALDERA_OWNER: `${NOBODY}:5000:0badcafe`, CALDERA_THREAD: '4026000000:0badcafe:mcp#1' },
    { CALDERA_OWNER: 'no mark of ours' },
    { SOMETHING_ELSE: `CALDERA_OWNER=${NOBODY}:5000:0badcafe` },
  ].map((env) => startSleeper({ env }));
  const logs: string[] = [];
  const host = makeHost(['neighbour.mjs']);
  host.on('log', ({ message }) => logs.push(message));
  await host.start();
  await waitUntilEnded(leftovers.map(({ pid }) => pid));
  expect(others.filter(({ pid }) => !isAlive(pid))).toEqual([]);
  expect(logs.join('\n')).toMatch(/ended 3 processes that a killed host had left behind/);
});
