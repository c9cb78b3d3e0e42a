/** What looks like an answer of Comlink's and is none: it is counted like everything else a thread sends. */
import { MessageChannel } from 'node:worker_threads';
import * as Comlink from 'comlink';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { InboundMeter } from '../../../src/host/thread/inbound-meter.ts';
import { Link } from '../../../src/host/thread/link.ts';
import { ExtensionHostError } from '../../../src/shared/errors.ts';
import { DEFAULT_LIMITS } from '../../../src/shared/limits.ts';
import { portEndpoint } from '../../../src/shared/port-endpoint.ts';
import type { Outcome } from '../../../src/shared/protocol.ts';
import { waitUntil } from '../../support/processes.ts';

interface Remote {
  give(value: unknown): Promise<Outcome<unknown>>;
}

function connect() {
  const { port1, port2 } = new MessageChannel();
  const remote: Remote = { give: async (value) => ({ ok: true, value }) };
  Comlink.expose(remote, portEndpoint(port2) as Comlink.Endpoint);
  const floods: string[] = [];
  const violations: string[] = [];
  const link = new Link<Remote, null>({
    port: port1,
    meter: new InboundMeter(DEFAULT_LIMITS, (what) => floods.push(what)),
    noteSchema: z.null(),
    onNote: () => {},
    onRequest: async () => null,
    onViolation: (what) => violations.push(what),
  });
  onTestFinished(() => link.close(new ExtensionHostError('HOST_CLOSED', 'the test is over')));
  return { link, far: port2, floods, violations };
}

test('answers that nobody waits for are violations, and the calls beside them get their own', async () => {
  const { link, far, violations } = connect();
  for (const id of ['forged', '1', '__proto__']) far.postMessage({ id, type: 'RAW', value: 'forged' });
  await waitUntil(() => violations.length === 3, 'three violations');
  expect(new Set(violations)).toEqual(new Set(['an answer that nobody waits for']));
  const answers = await Promise.all([1, 2, 3].map((value) => link.call('give', [value], z.unknown())));
  expect(answers).toEqual([1, 2, 3]);
});

test('those that come while calls are open take no true answer away', async () => {
  const { link, far, violations } = connect();
  const answers = [1, 2, 3].map((value) => link.call('give', [value], z.unknown()));
  // Posted before the far side has seen the calls, so they come first.
  for (const id of ['forged', '1', '__proto__', '', 0, null, {}]) far.postMessage({ id, type: 'RAW', value: 'forged' });
  for (const message of [null, 'x', [], {}]) far.postMessage(message);
  expect(await Promise.all(answers)).toEqual([1, 2, 3]);
  expect(violations).toHaveLength(11);
});

test('a true answer that is sent twice counts once, and takes nothing from the next call', async () => {
  const { link, far, violations } = connect();
  const post = far.postMessage.bind(far);
  far.postMessage = (message: unknown) => {
    post(message);
    post(message);
  };
  for (const value of [1, 2, 3]) expect(await link.call('give', [value], z.unknown())).toBe(value);
  await waitUntil(() => violations.length === 3, 'three violations');
});

test('a flood of them ends the thread like a flood of notes', async () => {
  const { far, floods, violations } = connect();
  const { losslessNotesPerSecond } = DEFAULT_LIMITS;
  for (let i = 0; i <= losslessNotesPerSecond * 2; i++) far.postMessage({ id: `forged ${i}` });
  await waitUntil(() => floods.length > 0, 'a flood');
  expect(floods).toHaveLength(1);
  expect(violations.length).toBeLessThanOrEqual(losslessNotesPerSecond);
});
