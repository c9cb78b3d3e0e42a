// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how placeholders are written
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ExtensionHostError } from '../../../src/shared/errors.ts';
import { alive, ask, fixture, until, WireBench } from './wire-server.ts';

let bench: WireBench;
beforeEach(() => {
  bench = new WireBench();
});
afterEach(() => bench.end());

async function failure(start: Promise<unknown>): Promise<ExtensionHostError> {
  return (await start.then(
    () => {
      throw new Error('it started');
    },
    (thrown: unknown) => thrown,
  )) as ExtensionHostError;
}

describe('starting a server', () => {
  // MCP-14
  test('it runs in the workspace with exactly the prepared environment, and is noted at once', async () => {
    const env = { GREETING: '${env:GREETING}', PLACE: '${workspace}', GONE: null };
    const server = await bench.launch(bench.config('echo.mjs', { env }), { sessionId: 'chat' });
    expect(server.info).toEqual({ name: 'wire', version: '1.0.0', protocolVersion: expect.any(String) as string });
    expect(server.epoch).toBe('bench-1');
    expect(await ask(server, 'cwd')).toBe(bench.workspace);
    const seen = JSON.parse(await ask(server, 'env')) as Record<string, string>;
    expect(Object.keys(seen).sort()).toEqual(['GREETING', 'PATH', 'PLACE', 'WIRE_LOG']);
    expect(seen).toMatchObject({ GREETING: 'hello', PLACE: bench.workspace });
    expect(bench.prepared).toMatchObject([
      { purpose: 'mcp-server', origin: 'demo', cwd: bench.workspace, env: { GONE: null } },
    ]);
    const note = { pid: server.pid, group: true, server: 'demo', sessionId: 'chat' };
    expect(bench.notes).toEqual([{ ...note, state: 'running' }]);
    await server.stop({ timeoutMs: 2000 });
    expect(bench.notes.at(-1)).toEqual({ ...note, state: 'exited' });
  });

  // MCP-35
  test('an exit before the handshake tells the code and the end of stderr, escaped, at once', async () => {
    const startedAt = performance.now();
    const error = await failure(bench.launch(bench.mortal('fails')));
    expect(error).toMatchObject({ code: 'SERVER_START_FAILED' });
    expect(error.message).toMatch(/demo MCP server exited with code 1 before it was ready/);
    expect(error.message).toMatch(/Traceback.*\n.*\\u\{1b\}\[31mboom/);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect((await failure(bench.launch(bench.mortal('killed')))).message).toMatch(/was ended by SIGKILL/);
  });

  test('a server that never answers is killed at the startup timeout, which tells the end of stderr', async () => {
    const leftovers: Promise<void>[] = [];
    const config = bench.mortal('mute', { startupTimeoutMs: 700, shutdownTimeoutMs: 500 });
    const error = await failure(bench.launch(config, { onLeftover: (gone) => void leftovers.push(gone) }));
    expect(error.message).toMatch(/timed out after 0\.7s/);
    expect(error.message).toMatch(/waiting for database/);
    await Promise.all(leftovers);
    expect(leftovers).toHaveLength(1);
    expect(bench.notes).toHaveLength(2);
    expect(alive(bench.notes[0]?.pid ?? 0)).toBe(false);
  });

  test('an abort rejects as an abort, and the process goes', async () => {
    const controller = new AbortController();
    const leftovers: Promise<void>[] = [];
    const start = bench.launch(bench.mortal('mute'), {
      signal: controller.signal,
      onLeftover: (gone) => void leftovers.push(gone),
    });
    await until(() => bench.notes.length === 1, 'the spawn');
    controller.abort('enough');
    expect(await failure(start)).toMatchObject({ name: 'AbortError', code: 'ABORTED', cause: 'enough' });
    await Promise.all(leftovers);
    expect(leftovers).toHaveLength(1);
    expect(alive(bench.notes[0]?.pid ?? 0)).toBe(false);
  });

  test('an abort before the spawn spawns nothing', async () => {
    await failure(bench.launch(bench.mortal('mute'), { signal: AbortSignal.abort() }));
    expect(bench.notes).toEqual([]);
  });

  test('each way a spawn can fail has a reason of its own', async () => {
    const script = join(bench.workspace, 'script.sh');
    writeFileSync(script, '#!/no/such/interpreter\n');
    const plain = join(bench.workspace, 'plain.txt');
    writeFileSync(plain, 'text');
    chmodSync(plain, 0o644);
    const bad = join(bench.workspace, 'bad-interpreter');
    writeFileSync(bad, '#!/no/such/interpreter\n');
    chmodSync(bad, 0o755);
    mkdirSync(join(bench.workspace, 'folder'));
    const reasons = new Map([
      [{ command: 'no-such-command-xyz' }, /no-such-command-xyz was not found in the PATH/],
      [{ command: '/no/such/file' }, /\/no\/such\/file does not exist/],
      [{ command: plain }, /is not executable/],
      [{ command: join(bench.workspace, 'folder') }, /is a directory/],
      [{ command: bad }, /interpreter/],
      [{ cwd: '/no/such/dir' }, /working directory \(cwd\) does not exist: \/no\/such\/dir/],
      [{ cwd: plain }, /working directory \(cwd\) is not a directory/],
      [{ args: ['a\0b'] }, /NUL/],
      [{ command: '  ' }, /the command is empty/],
    ]);
    for (const [given, reason] of reasons) {
      const error = await failure(bench.launch(bench.config('echo.mjs', given)));
      expect(error).toMatchObject({ code: 'SERVER_START_FAILED' });
      expect(error.message).toMatch(reason);
    }
    expect(bench.notes).toEqual([]);
  });

  test('a handshake that is refused, or of an unknown version, fails the start', async () => {
    const script = (result: string) => ({
      args: [
        '-e',
        `process.stdin.once('data', () => console.log('{"jsonrpc":"2.0","id":0,${result}}')); setInterval(() => {}, 1e6)`,
      ],
    });
    const refused = bench.config('echo.mjs', script('"error":{"code":-32600,"message":"not you"}'));
    expect((await failure(bench.launch(refused))).message).toMatch(/not you/);
    const future = bench.config('echo.mjs', script('"result":{"protocolVersion":"9999-01-01","capabilities":{}}'));
    expect((await failure(bench.launch(future))).message).toMatch(/9999-01-01/);
    const garbled = bench.config('echo.mjs', script('"result":"hello"'));
    expect((await failure(bench.launch(garbled))).message).toMatch(/cannot be used/);
  });

  test('a server that leaves out serverInfo, and has no tools, starts', async () => {
    const answer = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-11-05","capabilities":{"resources":{}}}}';
    const args = ['-e', `process.stdin.once('data', () => console.log('${answer}')); setInterval(() => {}, 1e6)`];
    const server = await bench.launch(bench.config('echo.mjs', { args }));
    expect(server.info).toEqual({ protocolVersion: '2024-11-05' });
    expect(await server.client.listTools(undefined)).toBeUndefined();
  });

  test('arguments arrive element by element, without a shell', async () => {
    const given = ['a b', '"q"', '', '*', '$HOME', '${workspace}', 'é'];
    const print = 'process.stdout.write(JSON.stringify(process.argv.slice(1)).replaceAll("\\n", ""))';
    const args = [
      '-e',
      `${print}; process.stderr.write(JSON.stringify(process.argv.slice(1)) + "\\n"); process.exit(9)`,
      ...given,
    ];
    const error = await failure(bench.launch(bench.config('echo.mjs', { args })));
    const expected = given.map((each) => (each.startsWith('${') ? bench.workspace : each));
    expect(error.message).toContain(JSON.stringify(expected));
  });

  test('what prepare rejects with is the reason', async () => {
    const prepare = () => Promise.reject(new Error('the policy says no'));
    expect((await failure(bench.launch(bench.config('echo.mjs'), { prepare }))).message).toMatch(/the policy says no/);
  });
});

test('the fixtures are where the tests think', () => {
  expect(fixture('echo.mjs')).toMatch(/test\/fixtures\/wire\/echo\.mjs$/);
});
