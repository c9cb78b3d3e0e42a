/** Messages of one turn cross together: what that must not change. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import * as Comlink from 'comlink';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import { InboundMeter } from '../../../src/host/thread/inbound-meter.ts';
import { Link } from '../../../src/host/thread/link.ts';
import { ExtensionHostError } from '../../../src/shared/errors.ts';
import { DEFAULT_LIMITS } from '../../../src/shared/limits.ts';
import { portEndpoint } from '../../../src/shared/port-endpoint.ts';
import { MAX_BATCH } from '../../../src/shared/post-queue.ts';
import type { Outcome } from '../../../src/shared/protocol.ts';
import { TurnEnd } from '../../../src/worker/turn-end.ts';
import { makeHost, openSession } from '../../support/extension-fixtures.ts';

interface Remote {
  give(value: unknown): Promise<Outcome<unknown>>;
  giveFunction(): Promise<Outcome<unknown>>;
}

const OVER = new ExtensionHostError('HOST_CLOSED', 'the test is over');
const ANYTHING = z.unknown();
const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A link on one end of real ports, an exposed object on the other, and how many messages went each way. */
function connect(): {
  link: Link<Remote, null>;
  posts: { host: number; worker: number };
  violations: string[];
  far: MessagePort;
} {
  const { port1, port2 } = new MessageChannel();
  const posts = { host: 0, worker: 0 };
  const count = (port: MessagePort, side: 'host' | 'worker'): void => {
    const post = port.postMessage.bind(port) as (message: unknown) => void;
    port.postMessage = (message: unknown): void => {
      post(message);
      posts[side] += 1;
    };
  };
  count(port1, 'host');
  count(port2, 'worker');
  const remote: Remote = {
    give: async (value) => ({ ok: true, value }),
    giveFunction: async () => ({ ok: true, value: () => {} }),
  };
  Comlink.expose(remote, portEndpoint(port2, { defer: new TurnEnd().defer }) as Comlink.Endpoint);
  const violations: string[] = [];
  const onViolation = (what: string): void => {
    violations.push(what);
  };
  const link = new Link<Remote, null>({
    port: port1,
    meter: new InboundMeter(DEFAULT_LIMITS, onViolation),
    noteSchema: z.null(),
    onNote: () => {},
    onRequest: async () => null,
    onViolation,
  });
  ends.push(() => link.close(OVER));
  return { link, posts, violations, far: port2 };
}

test('calls that are made together cross as one message each way, and every caller gets its own answer', async () => {
  const { link, posts } = connect();
  const numbers = Array.from({ length: 20 }, (_, i) => i);
  const answers = await Promise.all(numbers.map((i) => link.call('give', [i], ANYTHING)));
  expect(answers).toEqual(numbers);
  expect(posts).toEqual({ host: 1, worker: 1 });
});

test('more than one message holds are sent as several', async () => {
  const { link, posts } = connect();
  await Promise.all(Array.from({ length: MAX_BATCH * 2 + 1 }, (_, i) => link.call('give', [i], ANYTHING)));
  expect(posts.host).toBe(3);
});

test('an argument that cannot be cloned fails its own call and none of those beside it', async () => {
  const { link } = connect();
  const settled = await Promise.allSettled([
    link.call('give', ['before'], ANYTHING),
    link.call('give', [() => {}], ANYTHING),
    link.call('give', ['after'], ANYTHING),
  ]);
  expect(settled).toMatchObject([
    { value: 'before' },
    { reason: { code: 'PROTOCOL', message: expect.stringContaining('could not be cloned') } },
    { value: 'after' },
  ]);
});

test('an answer that cannot be cloned fails its own call and none of those beside it', async () => {
  const { link } = connect();
  const settled = await Promise.allSettled([
    link.call('give', ['before'], ANYTHING),
    link.call('giveFunction', [], ANYTHING),
    link.call('give', ['after'], ANYTHING),
  ]);
  expect(settled).toMatchObject([{ value: 'before' }, { reason: { code: 'PROTOCOL' } }, { value: 'after' }]);
});

test('what was said just before the link was closed still arrives', async () => {
  const { link, far } = connect();
  const arrived = new Promise((resolve) => far.on('message', resolve));
  link.tell('give', ['goodbye']);
  link.close(OVER);
  expect(await arrived).toMatchObject({ path: ['give'] });
});

test('a batch that is longer than agreed is a violation, and none of it is read', async () => {
  const { link, violations, far } = connect();
  far.postMessage({ batch: Array.from({ length: MAX_BATCH + 1 }, () => ({ id: 'forged' })) });
  await link.call('give', [1], ANYTHING);
  expect(violations).toEqual(['a request that is not in the protocol']);
});

test('an answer is not lost when another call ends the thread in the same turn', async () => {
  const host = makeHost(['exits-beside.mjs']);
  const session = await openSession(host);
  const [answered, exited] = await Promise.all([
    session.callTool({ name: 'answers' }),
    session.callTool({ name: 'exits' }),
  ]);
  expect(answered).toMatchObject({ isError: false, content: [{ text: 'answered' }] });
  expect(exited).toMatchObject({ details: { error: { code: 'THREAD_EXITED' } } });
});
