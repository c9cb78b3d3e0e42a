import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject, Progress } from '../../../src/host/index.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { waitUntil } from '../../support/processes.ts';

const host = () => makeHost(['calls.mjs']);

test('a call gives the text of its tool and says that it is done', async () => {
  const session = await openSession(host());
  const result = await session.callTool({ name: 'echo', arguments: { a: [1, { b: null }] } });
  expect(textOf(result)).toBe('{"a":[1,{"b":null}]}');
  expect(result).toMatchObject({ isError: false, details: { outcome: 'done', truncated: false, images: 0 } });
});

test('arguments that do not fit are an error result that names them, and nothing is sent', async () => {
  const session = await openSession(host());
  const missing = await session.callTool({ name: 'add', arguments: { a: 1 } });
  expect(textOf(missing)).toContain('"b" is required');
  const wrong = await session.callTool({ name: 'add', arguments: { a: 1, b: '2' } });
  expect(textOf(wrong)).toContain('"b" must be number, not string');
  for (const result of [missing, wrong]) {
    expect(result).toMatchObject({
      isError: true,
      details: { outcome: 'not-sent', error: { code: 'INVALID_ARGUMENT' } },
    });
  }
  expect(textOf(await session.callTool({ name: 'add', arguments: { a: 1, b: 2 } }))).toBe('3');
});

test('arguments that are no object, or cannot be sent, reject', async () => {
  const session = await openSession(host());
  for (const bad of [[], 'text', 7, null, { big: 1n }]) {
    const call = session.callTool({ name: 'echo', arguments: bad as unknown as JsonObject });
    await expect(call).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  }
});

test('options of a call that do not fit reject with their name, and nothing stays open', async () => {
  const session = await openSession(host());
  const bad: readonly (readonly [string, object])[] = [
    ['timeoutMs', { timeoutMs: -1 }],
    ['timeoutMs', { timeoutMs: Number.NaN }],
    ['timeoutMs', { timeoutMs: 5n }],
    ['signal', { signal: {} }],
    ['onProgress', { onProgress: 'x' }],
  ];
  for (const [option, options] of bad) {
    const expected = { code: 'INVALID_ARGUMENT', message: expect.stringContaining(`${option} must be`) };
    await expect(session.callTool({ name: 'never' }, options)).rejects.toMatchObject(expected);
    await expect(session.callTools([{ name: 'never' }], options)).rejects.toMatchObject(expected);
  }
  expect(session.inFlight).toBe(0);
});

test('a timeout longer than a timer can be is none that fires at once', async () => {
  const session = await openSession(host());
  for (const timeoutMs of [2 ** 40, Number.POSITIVE_INFINITY]) {
    expect(textOf(await session.callTool({ name: 'echo', arguments: {} }, { timeoutMs }))).toBe('{}');
  }
});

test('what a call answers early is not kept back by another that keeps its thread busy', async () => {
  const session = await openSession(host());
  const order: string[] = [];
  const busy = (ms: number) => session.callTool({ name: 'spins', arguments: { ms } }).then(() => order.push(`${ms}`));
  const calls = [busy(1), busy(400)];
  await calls[0];
  expect(order).toEqual(['1']);
  await Promise.all(calls);
});

test('a throw is an error result with its message and without a stack', async () => {
  const session = await openSession(host());
  const result = await session.callTool({ name: 'throws' });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toBe('the disk is full');
});

// MCP-62
test('a ToolExecutionError keeps text and images', async () => {
  const session = await openSession(host());
  const result = await session.callTool({ name: 'refuses' });
  expect(result).toMatchObject({ isError: true, details: { images: 1 } });
  expect(result.content.map((block) => block.type)).toEqual(['text', 'image']);
});

test('an unknown and an inactive tool are error results that were not sent', async () => {
  const session = await openSession(host(), { activeTools: ['echo'] });
  expect(session.activeTools).toEqual(['echo']);
  const unknown = await session.callTool({ name: 'nothing' });
  expect(unknown).toMatchObject({ isError: true, details: { outcome: 'not-sent', error: { code: 'UNKNOWN_TOOL' } } });
  const inactive = await session.callTool({ name: 'never' });
  expect(inactive).toMatchObject({ isError: true, details: { outcome: 'not-sent', error: { code: 'TOOL_INACTIVE' } } });
});

test('a timeout ends the call as a result, and the tool is told', async () => {
  const session = await openSession(host());
  const result = await session.callTool({ name: 'waits', arguments: { tag: 'late' } }, { timeoutMs: 100 });
  expect(textOf(result)).toBe('waits timed out after 0.1s');
  expect(result).toMatchObject({
    isError: true,
    details: { outcome: 'sent-unknown', error: { code: 'CALL_TIMEOUT' } },
  });
  await waitUntil(async () => textOf(await session.callTool({ name: 'aborts' })) === 'late', 'the abort in the thread');
});

test('an abort rejects as an abort with the reason as its cause, and the tool is told', async () => {
  const session = await openSession(host());
  const controller = new AbortController();
  const call = session.callTool({ name: 'waits', arguments: { tag: 'given up' } }, { signal: controller.signal });
  // One port keeps the order: when this is answered, the call before it has arrived.
  await session.callTool({ name: 'echo' });
  const reason = new Error('the person went away');
  controller.abort(reason);
  await expect(call).rejects.toMatchObject({ name: 'AbortError', code: 'ABORTED', cause: reason });
  await waitUntil(
    async () => textOf(await session.callTool({ name: 'aborts' })) === 'given up',
    'the abort in the thread',
  );
});

test('a call with an aborted signal rejects and never reaches the thread', async () => {
  const session = await openSession(host());
  const call = session.callTool({ name: 'waits', arguments: { tag: 'never sent' } }, { signal: AbortSignal.abort() });
  await expect(call).rejects.toMatchObject({ code: 'ABORTED' });
  expect(textOf(await session.callTool({ name: 'aborts' }))).toBe('');
});

test('progress arrives in order and before the result, the last one included', async () => {
  const session = await openSession(host());
  const seen: Progress[] = [];
  const result = await session.callTool({ name: 'progress' }, { onProgress: (progress) => seen.push(progress) });
  expect(textOf(result)).toBe('done');
  expect(seen).toEqual([
    { progress: 1, total: 3, message: 'step 1' },
    { progress: 2, total: 3, message: 'step 2' },
    { progress: 3, total: 3, message: 'step 3' },
    { progress: 4 },
  ]);
});

test('a progress listener that throws does not break the call', async () => {
  const session = await openSession(host());
  const result = await session.callTool(
    { name: 'progress' },
    {
      onProgress: () => {
        throw new Error('a careless listener');
      },
    },
  );
  expect(textOf(result)).toBe('done');
});

test('a batch runs in order when one of its tools is sequential, else at once', async () => {
  const session = await openSession(host());
  const ordered = await session.callTools([
    { name: 'in_order', arguments: { tag: 'a' } },
    { name: 'at_once', arguments: { tag: 'b' } },
  ]);
  expect(textOf(ordered[1] ?? { content: [], isError: true })).toBe('a in a out b in b out');
  const other = await openSession(host());
  const atOnce = await other.callTools([
    { name: 'at_once', arguments: { tag: 'a', ms: 60 } },
    { name: 'at_once', arguments: { tag: 'b', ms: 60 } },
  ]);
  expect(textOf(atOnce[0] ?? { content: [], isError: true })).toMatch(/^a in b in/);
});

test('a bad entry of a batch fails alone', async () => {
  const session = await openSession(host());
  const results = await session.callTools([
    { name: 'echo', arguments: 'no object' as unknown as JsonObject },
    { name: 'nothing' },
    { name: 'echo', arguments: {} },
  ]);
  expect(results.map((result) => result.details?.error?.code)).toEqual(['INVALID_ARGUMENT', 'UNKNOWN_TOOL', undefined]);
});

test('an aborted batch rejects with what had finished', async () => {
  const session = await openSession(host());
  const controller = new AbortController();
  const batch = session.callTools([{ name: 'in_order', arguments: { tag: 'a' } }, { name: 'never' }], {
    signal: controller.signal,
  });
  setTimeout(() => controller.abort(), 300);
  const error: { code: string; data: { results: unknown[] } } = await batch.then(
    () => expect.unreachable(),
    (thrown: unknown) => thrown as never,
  );
  expect(error.code).toBe('ABORTED');
  expect(error.data.results).toMatchObject([{ isError: false }, null]);
});

test('a tool sees its session', async () => {
  const session = await openSession(host(), { timeZone: 'Pacific/Chatham' });
  const seen: unknown = JSON.parse(textOf(await session.callTool({ name: 'context' }, { expectEpoch: 'an epoch' })));
  expect(seen).toEqual({
    sessionId: session.id,
    cwd: session.cwd,
    timeZone: 'Pacific/Chatham',
    expectEpoch: 'an epoch',
  });
});

test('closing and restarting a session end its calls as results', async () => {
  const session = await openSession(host());
  const restarted = session.callTool({ name: 'never' });
  await session.restart('new');
  expect(await restarted).toMatchObject({ isError: true, details: { error: { code: 'SESSION_CLOSED' } } });
  const closed = session.callTool({ name: 'never' });
  await session.callTool({ name: 'echo' });
  await session.close();
  expect(await closed).toMatchObject({
    isError: true,
    details: { outcome: 'sent-unknown', error: { code: 'SESSION_CLOSED' } },
  });
  await expect(session.callTool({ name: 'echo' })).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
});

test('a thousand calls leave no listener on the signal they shared', async () => {
  const session = await openSession(host());
  const { signal } = new AbortController();
  const warnings: string[] = [];
  const warned = (warning: Error) => warnings.push(warning.name);
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  for (let i = 0; i < 10; i++) {
    await Promise.all(Array.from({ length: 100 }, () => session.callTool({ name: 'echo' }, { signal })));
  }
  expect(listeners).toBe(0);
  expect(session.inFlight).toBe(0);
  expect(warnings).toEqual([]);
});
