import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/processes.ts';
import { RpcClient } from './rpc-client.ts';

let client: RpcClient;

beforeAll(async () => {
  client = new RpcClient().read();
  await client.open('a');
});

afterAll(async () => {
  client.process.stdin.end();
  expect(await client.exited).toEqual({ code: 0, signal: null });
  expect(client.stray).toEqual([]);
});

/** Sends lines as they are, and gives the errors without an id that come back before the answer to a last request. */
async function refused(...lines: string[]): Promise<(number | undefined)[]> {
  const from = client.messages.length;
  client.process.stdin.write(lines.map((line) => `${line}\n`).join(''));
  await client.result('host/inspect');
  return client.messages
    .slice(from)
    .filter(({ id }) => id === null)
    .map(({ error }) => error?.code);
}

describe('a message that is none', () => {
  it('bad JSON is -32700 with a null id, and the next line is read', async () => {
    expect(await refused('{"jsonrpc":"2.0",', 'nonsense')).toEqual([-32700, -32700]);
  });

  it('a batch is -32600', async () => {
    expect(await refused('[{"jsonrpc":"2.0","id":1,"method":"host/inspect"}]', '[]')).toEqual([-32600, -32600]);
  });

  it('a scalar, a null id and an object without method are -32600', async () => {
    expect(await refused('7', '{"jsonrpc":"2.0","id":null,"method":"host/inspect"}', '{"jsonrpc":"2.0"}')).toEqual([
      -32600, -32600, -32600,
    ]);
  });

  it('another version is -32600 with the id', async () => {
    client.write({ jsonrpc: '1.0', id: 'old', method: 'host/inspect' });
    expect((await client.answer('old')).error?.code).toBe(-32600);
  });

  it('blank lines, CRLF and answers to nothing are passed over', async () => {
    expect(await refused('', '  ', '\r', '{"jsonrpc":"2.0","id":99,"result":{}}')).toEqual([]);
    client.process.stdin.write('{"jsonrpc":"2.0","id":"crlf","method":"host/inspect"}\r\n');
    expect((await client.answer('crlf')).result).toBeDefined();
  });
});

describe('a request that cannot be run', () => {
  it('an unknown method is -32601 and names the nearest one', async () => {
    expect((await client.ask('tool/cal')).error).toMatchObject({
      code: -32601,
      message: expect.stringContaining('"tool/call"') as unknown,
    });
  });

  it('bad params are -32602 and name every bad field', async () => {
    const { error } = await client.ask('tool/call', { sessionId: 'a', name: 1, argumnets: {} });
    expect(error).toMatchObject({ code: -32602, data: { code: 'INVALID_ARGUMENT' } });
    expect(error?.message).toContain('name: expected string');
    expect(error?.message).toContain('argumnets: there is no such field; did you mean "arguments"?');
    expect((await client.ask('session/open', { sessionId: 'b' })).error).toMatchObject({
      code: -32602,
      message: /cwd/,
    });
    expect((await client.ask('tool/call', [1])).error?.code).toBe(-32602);
    expect((await client.ask('session/open', { sessionId: 'b', cwd: '/', ui: 'yes' })).error?.code).toBe(-32602);
  });

  it("an error of the host is -32000 with the host's code", async () => {
    expect((await client.ask('session/open', { sessionId: 'a', cwd: client.cwd })).error).toMatchObject({
      code: -32000,
      data: { code: 'SESSION_EXISTS' },
    });
  });

  it('an id that is in flight is -32600, and the first one still gets its answer', async () => {
    const wait = { sessionId: 'a', name: 'wait', arguments: { into: join(client.cwd, 'twice') } };
    client.write({ jsonrpc: '2.0', id: 'twice', method: 'tool/call', params: wait });
    client.write({ jsonrpc: '2.0', id: 'twice', method: 'session/tools', params: { sessionId: 'a' } });
    await client.answer('twice');
    client.write({ jsonrpc: '2.0', method: '$/cancel', params: { id: 'twice' } });
    const answers = () => client.messages.filter(({ id }) => id === 'twice');
    await waitUntil(() => answers().length === 2, 'both answers');
    expect(answers().map(({ error }) => error?.code)).toEqual([-32600, -32800]);
  });

  it('7 and "7" are two ids', async () => {
    client.write({ jsonrpc: '2.0', id: 1007, method: 'session/tools', params: { sessionId: 'a' } });
    client.write({ jsonrpc: '2.0', id: '1007', method: 'session/tools', params: { sessionId: 'a' } });
    expect((await client.answer(1007)).result).toBeDefined();
    expect((await client.answer('1007')).result).toBeDefined();
  });
});

describe('a notification', () => {
  it('is never answered, whatever is wrong with it', async () => {
    const from = client.messages.length;
    client.write({ jsonrpc: '2.0', method: 'no/such' });
    client.write({ jsonrpc: '2.0', method: 'tool/call', params: 5 });
    client.write({ jsonrpc: '2.0', method: '$/cancel', params: { id: 'gone' } });
    client.write({ jsonrpc: '2.0', method: '$/cancel' });
    const id = client.send('host/inspect');
    await client.answer(id);
    expect(
      client.messages
        .slice(from)
        .filter(({ method }) => method === undefined)
        .map((message) => message.id),
    ).toEqual([id]);
  });
});

describe('a line over 16 MiB', () => {
  it('is refused with its id and without being held in memory', async () => {
    const before = residentMb(client.pid);
    const part = Buffer.alloc(1024 * 1024, 'x');
    client.process.stdin.write('{"jsonrpc":"2.0","id":"long","method":"tool/call","params":{"id":1,"filling":"');
    for (let i = 0; i < 100; i++) {
      if (!client.process.stdin.write(part))
        await new Promise((resolve) => client.process.stdin.once('drain', resolve));
    }
    client.process.stdin.write('"}}\n');
    expect((await client.answer('long')).error).toMatchObject({ code: -32600, data: { code: 'LINE_TOO_LONG' } });
    await client.result('host/inspect');
    expect(residentMb(client.pid) - before).toBeLessThan(80);
  });
});

function residentMb(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}
