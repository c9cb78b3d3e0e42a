import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/processes.ts';
import { RpcClient } from './rpc-client.ts';

let client: RpcClient;

beforeAll(() => {
  client = new RpcClient().read();
});

afterAll(async () => {
  client.process.stdin.end();
  expect(await client.exited).toEqual({ code: 0, signal: null });
  expect(client.stray).toEqual([]);
});

describe('before the host has started', () => {
  it('host/inspect is answered and the rest waits', async () => {
    const starting = new RpcClient().read();
    const opened = starting.send('session/open', { sessionId: 'a', cwd: starting.cwd });
    const cancelled = starting.send('session/open', { sessionId: 'b', cwd: starting.cwd });
    starting.write({ jsonrpc: '2.0', method: '$/cancel', params: { id: cancelled } });
    const inspected = starting.send('host/inspect');
    expect((await starting.answer(inspected)).result).toMatchObject({
      extensions: [
        { name: 'mcp', state: 'loading' },
        { name: 'rpc-probe', state: 'loading' },
      ],
    });
    expect((await starting.answer(cancelled)).error?.code).toBe(-32800);
    await starting.answer(opened);
    expect(starting.messages.flatMap(({ id, method }) => (method === undefined ? [id] : [])).at(-1)).toBe(opened);
    await starting.result('host/close');
    expect(await starting.exited).toEqual({ code: 0, signal: null });
  });
});

describe('caldera rpc', () => {
  it('opens a session with its tools, commands and failures, and lists the tools again', async () => {
    const opened = await client.result('session/open', { sessionId: 's2', cwd: client.cwd });
    expect(opened['commands']).toContainEqual(expect.objectContaining({ name: 'probe', extension: 'rpc-probe' }));
    expect(opened['tools']).toContainEqual(expect.objectContaining({ name: 'echo', parameters: { type: 'object' } }));
    expect(opened['failures']).toEqual([]);
    expect((await client.result('session/tools', { sessionId: 's2' }))['tools']).toEqual(opened['tools']);
  });

  it('passes arguments through as they are, an own __proto__ key included', async () => {
    await client.open('s3');
    const line =
      '{"jsonrpc":"2.0","id":"own","method":"tool/call","params":{"sessionId":"s3","name":"echo","arguments":{"__proto__":{"x":1},"n":null}}}';
    client.process.stdin.write(`${line}\n`);
    const { result } = await client.answer('own');
    expect(result).toMatchObject({
      content: [{ type: 'text', text: '{"__proto__":{"x":1},"n":null}' }],
      isError: false,
    });
  });

  it('runs requests at once: a later one is answered while an earlier one waits', async () => {
    await client.open('s4');
    const waiting = client.send('tool/call', {
      sessionId: 's4',
      name: 'wait',
      arguments: { into: join(client.cwd, 'w') },
    });
    expect(await client.call('s4', 'echo', { after: 'it' })).toBe('{"after":"it"}');
    expect(client.messages.some(({ id }) => id === waiting)).toBe(false);
  });

  it('cancels a call with -32800, and the tool sees it', async () => {
    await client.open('s5');
    const into = join(client.cwd, 'cancelled');
    const id = client.send('tool/call', { sessionId: 's5', name: 'wait', arguments: { into } });
    await waitUntil(async () => {
      const { sessions } = await client.result<{ sessions: { id: string; inFlight: number }[] }>('host/inspect');
      return sessions.some((session) => session.id === 's5' && session.inFlight === 1);
    }, 'the call is in flight');
    client.write({ jsonrpc: '2.0', method: '$/cancel', params: { id } });
    expect((await client.answer(id)).error).toMatchObject({ code: -32800, data: { code: 'ABORTED' } });
    await waitUntil(() => readFile(into) === 'aborted', 'the tool was aborted');
  });

  it('tells the progress of a call before its answer', async () => {
    await client.open('s6');
    const id = client.send('tool/call', { sessionId: 's6', name: 'steps', arguments: { count: 3 } });
    await client.answer(id);
    const told = client.messages.filter((message) => message.params?.['id'] === id || message.id === id);
    expect(told[0]?.params).toEqual({ id, progress: 1, total: 3, message: 'step 1' });
    expect(told.at(-2)?.params).toEqual({ id, progress: 3, total: 3, message: 'step 3' });
    expect(told.at(-1)?.result).toMatchObject({ isError: false });
  });

  it('answers a batch with one result for each call', async () => {
    await client.open('s7');
    const calls = [{ name: 'echo', arguments: { n: 1 } }, { name: 'nope' }, { name: 'echo', arguments: 5 }];
    const { results } = await client.result<{ results: unknown[] }>('tool/callBatch', { sessionId: 's7', calls });
    expect(results).toMatchObject([
      { isError: false },
      { isError: true, details: { error: { code: 'UNKNOWN_TOOL' } } },
      { isError: true, details: { error: { code: 'INVALID_ARGUMENT' } } },
    ]);
  });

  it('ends a call at its timeout with an error result', async () => {
    await client.open('s8');
    const params = { sessionId: 's8', name: 'wait', arguments: { into: join(client.cwd, 't') }, timeoutMs: 100 };
    expect(await client.result('tool/call', params)).toMatchObject({
      isError: true,
      details: { error: { code: 'CALL_TIMEOUT' } },
    });
  });

  it('runs commands, asks for prompt sections, restarts, reloads and closes', async () => {
    await client.open('s9');
    expect(await client.result('command/run', { sessionId: 's9', name: 'probe', args: 'x y' })).toEqual({
      text: 'probe got: x y',
    });
    expect(await client.result('session/prompt', { sessionId: 's9', prompt: 'why?' })).toEqual({
      sections: { probe: 'asked: why?' },
    });
    expect(await client.result('session/restart', { sessionId: 's9', reason: 'new' })).toEqual({});
    expect(await client.result('extension/reload', { path: 'rpc-probe' })).toEqual({});
    expect(await client.call('s9', 'echo')).toBe('{}');
    expect(await client.result('session/close', { sessionId: 's9' })).toEqual({});
    expect((await client.ask('session/tools', { sessionId: 's9' })).error).toMatchObject({
      code: -32000,
      data: { code: 'SESSION_CLOSED' },
    });
    await client.open('s9');
  });

  it('passes on what a session and the host have to tell', async () => {
    await client.open('s10');
    await client.call('s10', 'say');
    await client.call('s10', 'grow');
    expect(await client.notification('session/notify')).toEqual({
      sessionId: 's10',
      level: 'warning',
      message: 'a notice',
      extension: 'rpc-probe',
    });
    expect(await client.notification('session/message')).toMatchObject({
      sessionId: 's10',
      customType: 'probe',
      content: { some: ['thing'] },
    });
    expect(await client.notification('session/toolsChanged', { sessionId: 's10' })).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ name: 'grown' })]) as unknown,
    });
    expect(await client.notification('log', { level: 'error' })).toMatchObject({
      extension: 'rpc-probe',
      message: 'an error record',
      fact: 7,
    });
    expect(await client.notification('extension/state', { state: 'running', extension: 'rpc-probe' })).toMatchObject({
      generation: 1,
    });
  });

  it('writes each log record to stderr too, and neither way below its level', async () => {
    await client.open('s11');
    await client.call('s11', 'say');
    await client.notification('log', { message: 'an error record' });
    await waitUntil(() => client.stderr.includes('an error record'), 'the record on stderr');
    expect(client.stderr).not.toContain('an info record');
    expect(client.notifications('log').map(({ level }) => level)).not.toContain('info');
  });
});

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
