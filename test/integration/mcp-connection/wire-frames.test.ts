import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ExtensionHostError } from '../../../src/shared/errors.ts';
import { alive, ask, until, WireBench } from './wire-server.ts';

const MIB = 1024 * 1024;
let bench: WireBench;
beforeEach(() => {
  bench = new WireBench();
});
afterEach(() => bench.end());

/** Rejections as text, so that a list of outcomes reads well. */
const outcome = (answer: Promise<unknown>) =>
  answer.catch((thrown: unknown) => {
    const { code, message } = thrown as ExtensionHostError;
    return `${code}: ${message}`;
  });

describe('what a server writes on its stdout', () => {
  test('noise of many shapes settles nothing, and is logged once a start and counted', async () => {
    const server = await bench.launch(bench.config('noisy.mjs'));
    for (let n = 0; n < 3; n += 1) expect(await ask(server, 'noise')).toBe('after noise');
    expect(server.noiseLines).toBeGreaterThan(20);
    await server.stop({ timeoutMs: 2000 });
    const records = bench.messages(/non-protocol/);
    expect(records).toHaveLength(2);
    expect(records[0]).toBe(
      'demo mcp: skipped a non-protocol line on stdout: Wire server v1.0 \\u{1b}[32mlistening\\u{1b}[0m on stdio',
    );
    expect(records[1]).toMatch(/skipped \d\d non-protocol lines/);
  });

  test('text in front of an answer, CRLF, split characters and odd envelopes do not harm it', async () => {
    const server = await bench.launch(bench.config('noisy.mjs'));
    expect(await ask(server, 'glued')).toBe('glued');
    expect(await ask(server, 'foreign')).toBe('right');
    expect(await ask(server, 'crlf')).toBe('crlf');
    expect(await ask(server, 'drip')).toBe('— é 你好 🚀');
    expect(await ask(server, 'meta-null')).toBe('');
  });

  test('an answer that cannot be used fails its call at once and no other', async () => {
    const server = await bench.launch(bench.config('noisy.mjs'));
    expect(await outcome(ask(server, 'batch'))).toMatch(/^PROTOCOL: .*batch/);
    expect(await outcome(ask(server, 'nan'))).toMatch(/^PROTOCOL: .*not valid JSON/);
    expect(await outcome(ask(server, 'old-version'))).toMatch(/^PROTOCOL: .*"1\.0"/);
    expect(await ask(server, 'plain')).toBe('plain');
  });

  test('a line at the cap passes; a longer one fails its own call alone', async () => {
    const server = await bench.launch(bench.config('noisy.mjs'), {
      limits: { ...bench.surroundings().limits, lineBytes: MIB },
    });
    expect(await ask(server, 'long', { bytes: MIB - 200 })).toHaveLength(MIB - 200);
    const [long, plain] = await Promise.all([outcome(ask(server, 'long', { bytes: MIB })), ask(server, 'plain')]);
    expect(long).toMatch(/^LINE_TOO_LONG: .*1\.0 MiB/);
    expect(plain).toBe('plain');
    expect(await outcome(ask(server, 'long-without-id', { bytes: MIB + 1 }))).toMatch(/^LINE_TOO_LONG/);
    expect(await ask(server, 'plain')).toBe('plain');
  });

  test('a line of 15 MiB in small writes arrives under the default limits', async () => {
    const server = await bench.launch(bench.config('noisy.mjs'));
    const startedAt = performance.now();
    expect(await ask(server, 'long', { bytes: 15 * MIB })).toHaveLength(15 * MIB);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  test('a flood without a newline fails the call with the reason and stops the server', async () => {
    const server = await bench.launch(bench.config('noisy.mjs'), {
      limits: { ...bench.surroundings().limits, lineBytes: MIB },
    });
    expect(await outcome(ask(server, 'flood', { mib: 40 }))).toMatch(
      /^LINE_TOO_LONG: .*without a newline.*was stopped/,
    );
    expect(await server.exited).toMatchObject({ reason: expect.stringMatching(/without a newline/) as string });
    await until(() => !alive(server.pid), 'the end of the flooding server');
  });

  test('an answer without a newline counts when it is the last word', async () => {
    const server = await bench.launch(bench.config('noisy.mjs'));
    expect(await ask(server, 'unfinished-then-exit')).toBe('last words');
  });
});

describe('what a server asks and tells', () => {
  test('every request is answered at once, whoever is there: ping and roots well, a form and a model are refused, the rest unknown', async () => {
    const server = await bench.launch(bench.config('asks.mjs'));
    const answers = 'elicitation/create=ok ping=ok roots/list=ok sampling/createMessage=-1 x/unknown=-32601';
    expect(await ask(server, 'ask')).toBe(answers);
    expect(bench.messages(/rows/)).toEqual(['demo mcp: [info] db: {"rows":3}']);
  });

  test('its other notifications reach who listens', async () => {
    const server = await bench.launch(bench.config('asks.mjs'));
    const seen: string[] = [];
    server.client.onNotification = (method) => seen.push(method);
    await ask(server, 'changed');
    expect(seen).toEqual(['notifications/tools/list_changed']);
  });

  // MCP-43
  test('a megabyte of stderr in a call blocks nothing, is logged at a bounded rate, and its end is kept', async () => {
    const server = await bench.launch(bench.mortal());
    expect(await ask(server, 'stderr')).toBe('chatty');
    await server.stop({ timeoutMs: 2000 });
    const shown = bench.messages(/w{50}/).length;
    expect(shown).toBeGreaterThan(0);
    expect(shown).toBeLessThanOrEqual(150);
    expect(bench.messages(/\d lines dropped/).length).toBeGreaterThan(0);
    expect(Buffer.byteLength(server.stderrTail())).toBeLessThanOrEqual(8 * 1024);
    expect(server.stderrTail()).toMatch(/w{1023}$/);
  });
});

describe('a server that stops reading', () => {
  test('what waits for it is bounded: the call after that is refused, not written', async () => {
    const server = await bench.launch(bench.config('stops-reading.mjs'), {
      limits: { ...bench.surroundings().limits, lineBytes: MIB },
    });
    const send = () =>
      server.client.call({ tool: 'x', arguments: { text: 'a'.repeat(900_000) }, onProgress: () => {} });
    const handles = [send(), send(), send()];
    const last = handles.at(-1);
    expect(await outcome(last?.answer ?? Promise.resolve())).toMatch(/does not read its input/);
    expect(handles.map(({ sent }) => sent)).toEqual([true, true, false]);
    await server.stop({ timeoutMs: 100 });
    expect(handles.map(({ sent }) => sent)).toEqual([false, false, false]);
  });
});
