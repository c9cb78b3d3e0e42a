import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { alive, ask, fixture, until, WireBench } from './wire-server.ts';

let bench: WireBench;
beforeEach(() => {
  bench = new WireBench();
});
afterEach(() => bench.end());

describe('stopping a server', () => {
  test('a server that ends at the end of its stdin is gone at once', async () => {
    const server = await bench.launch(bench.config('echo.mjs'));
    const startedAt = performance.now();
    await server.stop({ timeoutMs: 15_000 });
    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect(alive(server.pid)).toBe(false);
    expect(await server.exited).toMatchObject({ code: 0, signal: null });
  });

  test('a server that closes its stdout and needs time to save gets it, without a signal', async () => {
    const server = await bench.launch(bench.mortal('saves'));
    await server.stop({ timeoutMs: 8000 });
    expect(bench.lines.slice(1)).toEqual(['begin', 'saved']);
  });

  // MCP-48
  test('a stubborn one is asked, told and killed', async () => {
    const server = await bench.launch(bench.mortal('stubborn'));
    const startedAt = performance.now();
    await server.stop({ timeoutMs: 800 });
    expect(performance.now() - startedAt).toBeGreaterThan(700);
    expect(alive(server.pid)).toBe(false);
    expect(bench.lines.slice(1)).toEqual(['end', 'sigterm']);
    expect(await server.exited).toMatchObject({ signal: 'SIGKILL' });
  });

  test('a second stop waits for the same end and can shorten it', async () => {
    const server = await bench.launch(bench.mortal('stubborn'));
    const startedAt = performance.now();
    const slow = server.stop({ timeoutMs: 15_000 });
    await server.stop({ timeoutMs: 200 });
    await slow;
    expect(performance.now() - startedAt).toBeLessThan(8000);
    expect(alive(server.pid)).toBe(false);
  });

  test('the server behind a launcher goes with it', async () => {
    const server = await bench.launch(bench.config('launcher.mjs'));
    expect(await ask(server, 'pid')).toMatch(/^\d+$/);
    const [, launcher, real] = /launcher (\d+) (\d+)/.exec(bench.lines.join('\n')) ?? [];
    await server.stop({ timeoutMs: 600 });
    expect([launcher, real].map((pid) => alive(Number(pid)))).toEqual([false, false]);
  });

  test('a browser in a session of its own goes, too: on a stop and when the server is killed', async () => {
    const stopped = await bench.launch(bench.mortal());
    const first = Number(await ask(stopped, 'browser'));
    expect(alive(first)).toBe(true);
    await stopped.stop({ timeoutMs: 2000 });
    expect(alive(first)).toBe(false);

    const killed = await bench.launch(bench.mortal());
    const second = Number(await ask(killed, 'browser'));
    process.kill(killed.pid, 'SIGKILL');
    await killed.exited;
    await killed.stop({ timeoutMs: 2000 });
    expect(alive(second)).toBe(false);
  });

  test('a helper that holds stdout open hangs nothing and does not survive', async () => {
    const server = await bench.launch(bench.mortal());
    const answer = ask(server, 'heir');
    await expect(answer).rejects.toMatchObject({ code: 'SERVER_EXITED' });
    expect(await server.exited).toMatchObject({ code: 4 });
    const heir = Number(/heir (\d+)/.exec(bench.lines.join('\n'))?.[1]);
    await server.stop({ timeoutMs: 2000 });
    expect(alive(heir)).toBe(false);
    expect(bench.notes.map(({ state }) => state)).toEqual(['running', 'exited']);
  });

  test('a server that closes its stdout is of no use, and ends', async () => {
    const server = await bench.launch(bench.mortal());
    await expect(ask(server, 'close-stdout')).rejects.toMatchObject({ code: 'SERVER_EXITED' });
    expect(await server.exited).toMatchObject({ reason: 'it closed its stdout' });
    await until(() => !alive(server.pid), 'the end of the server');
  });

  test('an exit is reported with the end of stderr', async () => {
    const server = await bench.launch(bench.config('mortal.mjs', { args: [fixture('mortal.mjs')] }));
    await expect(ask(server, 'die')).rejects.toMatchObject({ code: 'SERVER_EXITED' });
    expect(await server.exited).toEqual({ code: 3, signal: null, stderrTail: 'dying: pool exhausted' });
  });
});
