import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Progress } from '../../../src/shared/tool.ts';
import { alive, call, textOf, until, WireBench } from './wire-server.ts';

let bench: WireBench;
beforeEach(() => {
  bench = new WireBench();
});
afterEach(() => bench.end());

const started = () => bench.lines.filter((line) => line.startsWith('start')).length;

describe('the first call', () => {
  // MCP-42
  test('it starts the process, and calls at the same time share the start', async () => {
    const connection = bench.connect(bench.mortal());
    expect(connection.status()).toMatchObject({ state: 'not-started', counters: { calls: 0, restarts: 0 } });
    expect(bench.notes).toEqual([]);
    const replies = await Promise.all([1, 2, 3].map(() => call(connection, 'pid')));
    expect(new Set(replies.map(textOf)).size).toBe(1);
    expect(replies[0]).toMatchObject({ kind: 'answer', epoch: 'bench-1' });
    expect(started()).toBe(1);
    expect(connection.status()).toMatchObject({
      state: 'running',
      epoch: 'bench-1',
      info: { name: 'wire' },
      pid: bench.notes[0]?.pid,
      counters: {
        calls: 3,
        errors: 0,
        restarts: 0,
        p50Ms: expect.any(Number) as number,
        p95Ms: expect.any(Number) as number,
      },
    });
  });

  test('a start that fails is an error reply with the reason, and the next call tries again', async () => {
    const connection = bench.connect(bench.mortal('fails'));
    const reply = await call(connection, 'pid');
    expect(reply).toMatchObject({ kind: 'error', code: 'SERVER_START_FAILED', outcome: 'not-sent' });
    expect(textOf(reply)).toMatch(/exited with code 1.*\n.*\n.*boom/);
    expect(connection.status()).toMatchObject({ state: 'failed', lastError: expect.stringMatching(/boom/) as string });
    await call(connection, 'pid');
    expect(started()).toBe(2);
    await connection.stop();
    expect(connection.status()).toMatchObject({
      state: 'not-started',
      lastError: expect.stringMatching(/boom/) as string,
    });
  });

  test('an abort during the start rejects the call, and the start goes on for the next one', async () => {
    const connection = bench.connect(bench.mortal());
    const controller = new AbortController();
    const aborted = call(connection, 'pid', { signal: controller.signal });
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError', code: 'ABORTED' });
    expect((await call(connection, 'pid')).kind).toBe('answer');
    expect(started()).toBe(1);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});

describe('calls in line', () => {
  // MCP-07
  test('they run one after another, and an aborted one in the queue never reaches the server', async () => {
    const connection = bench.connect(bench.mortal());
    await call(connection, 'pid');
    const controller = new AbortController();
    const first = call(connection, 'late', { arguments: { ms: 300 } });
    const queued = call(connection, 'die', { signal: controller.signal });
    const last = call(connection, 'pid');
    controller.abort();
    await expect(queued).rejects.toMatchObject({ code: 'ABORTED' });
    expect(textOf(await first)).toBe('late');
    expect((await last).kind).toBe('answer');
    expect(bench.lines.filter((line) => line.startsWith('call'))).toEqual(['call pid', 'call late', 'call pid']);
  });

  test('a parallel server gets them at once', async () => {
    const connection = bench.connect(bench.mortal('', { parallel: true }));
    await call(connection, 'pid');
    const slow = call(connection, 'late', { arguments: { ms: 400 } });
    expect((await call(connection, 'pid')).kind).toBe('answer');
    expect(bench.lines.filter((line) => line.startsWith('call'))).toEqual(['call pid', 'call late', 'call pid']);
    expect(textOf(await slow)).toBe('late');
  });

  test('a call for another epoch is not sent', async () => {
    const connection = bench.connect(bench.mortal());
    await call(connection, 'pid', { expectEpoch: 'bench-1' });
    const reply = await call(connection, 'die', { expectEpoch: 'bench-0' });
    expect(reply).toMatchObject({ kind: 'error', code: 'STATE_LOST', outcome: 'not-sent', epoch: 'bench-1' });
    expect(bench.lines).not.toContain('call die');
  });
});

describe('abort and timeout', () => {
  // MCP-44
  test('both cancel at the server once, with a fixed reason, and keep the server', async () => {
    const connection = bench.connect(bench.mortal('', { callTimeoutMs: 800 }));
    const pid = textOf(await call(connection, 'pid'));
    const late = await call(connection, 'hang', { exposedName: 'demo_hang' });
    expect(late).toMatchObject({ kind: 'error', code: 'CALL_TIMEOUT', outcome: 'sent-unknown', epoch: 'bench-1' });
    expect(textOf(late)).toBe('CALL_TIMEOUT: demo_hang timed out after 0.8s');

    const controller = new AbortController();
    const aborted = call(connection, 'hang', { signal: controller.signal });
    await until(() => bench.lines.filter((line) => line === 'call hang').length === 2, 'the second call at the server');
    const startedAt = performance.now();
    controller.abort(new Error('secret reason'));
    await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' });
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(textOf(await call(connection, 'pid'))).toBe(pid);

    const ids = bench.lines.filter((line) => line.startsWith('hang ')).map((line) => line.slice(5));
    const cancelled = bench.lines.filter((line) => line.startsWith('cancelled'));
    expect(cancelled).toEqual(ids.map((id) => `cancelled ${id} the caller cancelled the request`));
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('the next call waits for the late answer of a cancelled one', async () => {
    const connection = bench.connect(bench.mortal('', { callTimeoutMs: 800 }));
    await call(connection, 'pid');
    expect(textOf(await call(connection, 'late', { arguments: { ms: 1200 } }))).toMatch(/^CALL_TIMEOUT/);
    const startedAt = performance.now();
    expect((await call(connection, 'pid')).kind).toBe('answer');
    // The answer came 400 ms after the timeout; without it the lane would be held for 2 s.
    expect(performance.now() - startedAt).toBeGreaterThan(200);
    expect(performance.now() - startedAt).toBeLessThan(1900);
  });

  test('after a timeout a server that answers its ping stays, and one that does not is replaced', async () => {
    const lively = bench.connect(bench.mortal('', { callTimeoutMs: 800 }));
    const pid = textOf(await call(lively, 'pid'));
    await call(lively, 'hang');
    expect(textOf(await call(lively, 'pid'))).toBe(pid);
    expect(bench.lines).toContain('ping');

    const deaf = bench.connect(bench.mortal('deaf-to-ping', { callTimeoutMs: 800 }));
    const before = textOf(await call(deaf, 'pid'));
    await call(deaf, 'hang');
    expect(textOf(await call(deaf, 'pid'))).not.toBe(before);
    expect(alive(Number(before))).toBe(false);
    expect(deaf.status()).toMatchObject({
      lastError: expect.stringMatching(/did not answer a ping/) as string,
      counters: { restarts: 1 },
    });
  });

  test('progress renews the call timeout, not the longest time of a call, and is throttled', async () => {
    const connection = bench.connect(bench.config('echo.mjs', { callTimeoutMs: 1000, maxCallMs: 3000 }));
    const seen: Progress[] = [];
    const done = await call(connection, 'progress', {
      arguments: { steps: 30, everyMs: 40 },
      onProgress: (progress) => seen.push(progress),
    });
    expect(textOf(done)).toBe('done');
    expect(seen[0]).toEqual({ progress: 1, total: 30 });
    expect(seen.at(-1)).toEqual({ progress: 30, total: 30 });
    expect(seen.length).toBeLessThan(25);
    const endless = await call(connection, 'progress', { arguments: { steps: 1000, everyMs: 100 } });
    expect(textOf(endless)).toBe('CALL_TIMEOUT: progress timed out after 3s');
  });
});

describe('errors of a server', () => {
  // MCP-46
  test('a JSON-RPC error is an error reply with its message, and the server stays', async () => {
    const connection = bench.connect(bench.config('echo.mjs'));
    const pid = textOf(await call(connection, 'pid'));
    const reply = await call(connection, 'refuse');
    expect(reply).toEqual({
      kind: 'error',
      code: 'PROTOCOL',
      message: 'Unknown tool: refuse',
      outcome: 'done',
      epoch: 'bench-1',
    });
    expect(textOf(await call(connection, 'pid'))).toBe(pid);
    expect(connection.status().counters).toMatchObject({ calls: 3, errors: 1, restarts: 0 });
  });

  test('an answer that cannot be used may have been a success', async () => {
    const connection = bench.connect(bench.config('noisy.mjs'));
    expect(await call(connection, 'batch')).toMatchObject({ kind: 'error', code: 'PROTOCOL', outcome: 'sent-unknown' });
  });

  // MCP-45
  test('a death in a call is told, never retried, and the next call gets a new process', async () => {
    const connection = bench.connect(bench.mortal());
    const pid = textOf(await call(connection, 'pid'));
    const reply = await call(connection, 'die');
    expect(reply).toEqual({
      kind: 'error',
      code: 'SERVER_EXITED',
      message: 'demo MCP server exited (3): dying: pool exhausted. It restarts on the next call; its state was lost.',
      outcome: 'sent-unknown',
      epoch: 'bench-1',
    });
    expect(bench.lines.filter((line) => line === 'call die')).toHaveLength(1);
    expect(connection.status()).toMatchObject({
      state: 'exited',
      stderrTail: 'dying: pool exhausted',
      epoch: 'bench-1',
    });
    const next = await call(connection, 'pid');
    expect(next).toMatchObject({ kind: 'answer', epoch: 'bench-2' });
    expect(textOf(next)).not.toBe(pid);
    expect(connection.status().counters.restarts).toBe(1);
  });

  test('a process that died between calls is replaced without a word', async () => {
    const connection = bench.connect(bench.mortal());
    const pid = Number(textOf(await call(connection, 'pid')));
    process.kill(pid, 'SIGKILL');
    await until(() => connection.status().state === 'exited', 'the exit');
    expect(connection.status().lastError).toMatch(/exited \(SIGKILL\)/);
    expect(await call(connection, 'pid')).toMatchObject({ kind: 'answer', epoch: 'bench-2' });
  });

  test('a request that the pipe refused is run once more on a fresh process', async () => {
    const connection = bench.connect(
      bench.config('stops-reading.mjs', { callTimeoutMs: 60_000, shutdownTimeoutMs: 200 }),
    );
    // The first one fills the pipe and stays; nothing is known of it when the process dies.
    const big = call(connection, 'x', { arguments: { text: 'a'.repeat(3_000_000) } });
    await until(() => connection.status().state === 'running', 'the start');
    process.kill(connection.status().pid ?? 0, 'SIGKILL');
    await until(() => connection.status().epoch === 'bench-2', 'the second start');
    process.kill(connection.status().pid ?? 0, 'SIGKILL');
    expect(await big).toMatchObject({ kind: 'error', code: 'SERVER_EXITED', outcome: 'not-sent', epoch: 'bench-2' });
    expect(bench.prepared).toHaveLength(2);
  });

  test('a restart waits until everything of the old process is gone', async () => {
    const connection = bench.connect(bench.mortal());
    const browser = Number(textOf(await call(connection, 'browser')));
    const stopped = connection.stop();
    const next = call(connection, 'pid').then(() => alive(browser));
    await stopped;
    expect(await next).toBe(false);
  });
});

describe('stop and dispose', () => {
  // MCP-50
  test('a stop ends calls in flight and in line, and the connection stays usable', async () => {
    const connection = bench.connect(bench.mortal());
    await call(connection, 'pid');
    const flying = call(connection, 'hang');
    const queued = call(connection, 'hang');
    await until(() => bench.lines.some((line) => line.startsWith('hang')), 'the call at the server');
    await connection.stop();
    expect(await flying).toMatchObject({ code: 'SESSION_CLOSED', outcome: 'sent-unknown', epoch: 'bench-1' });
    expect(await queued).toMatchObject({ code: 'SESSION_CLOSED', outcome: 'not-sent' });
    expect(connection.status().state).toBe('not-started');
    expect(await call(connection, 'pid')).toMatchObject({ kind: 'answer', epoch: 'bench-2' });
  });

  test('a stop during the start ends the start', async () => {
    const connection = bench.connect(bench.mortal('mute'));
    const reply = call(connection, 'pid');
    await until(() => bench.notes.length === 1, 'the spawn');
    await connection.stop({ timeoutMs: 500 });
    expect(await reply).toMatchObject({ code: 'SESSION_CLOSED', outcome: 'not-sent' });
    expect(alive(bench.notes[0]?.pid ?? 0)).toBe(false);
    expect(connection.status().state).toBe('not-started');
  });

  // MCP-49
  test('dispose is idempotent, and later calls say that the session has ended', async () => {
    const connection = bench.connect(bench.mortal());
    const pid = Number(textOf(await call(connection, 'pid')));
    await Promise.all([connection.dispose(), connection.dispose()]);
    await connection.dispose();
    expect(alive(pid)).toBe(false);
    const reply = await call(connection, 'pid');
    expect(reply).toMatchObject({ kind: 'error', code: 'SESSION_CLOSED', outcome: 'not-sent' });
    expect(textOf(reply)).toMatch(/the session has ended/);
  });

  // MCP-47
  test('an idle process is stopped, never one with a call in flight, and the next call starts another', async () => {
    const connection = bench.connect(bench.mortal('', { idleTimeoutMs: 300 }));
    const pid = Number(textOf(await call(connection, 'pid')));
    expect(textOf(await call(connection, 'late', { arguments: { ms: 900 } }))).toBe('late');
    expect(alive(pid)).toBe(true);
    await until(() => !alive(pid), 'the idle stop');
    await until(() => connection.status().state === 'not-started', 'the end of the stop');
    expect(await call(connection, 'pid')).toMatchObject({ kind: 'answer', epoch: 'bench-2' });
  });

  test('each start is told, with its client', async () => {
    const lists: unknown[] = [];
    const connection = bench.connect(bench.mortal(), {
      onStarted: (client) => void client.listTools(undefined).then((page) => lists.push(page?.tools)),
    });
    await call(connection, 'pid');
    await connection.stop();
    await call(connection, 'pid');
    await until(() => lists.length === 2, 'two lists');
  });
});
