import { describe, expect, it } from 'vitest';
import { descendantsOf, isAlive, waitUntilEnded } from '../../support/processes.ts';
import { RpcClient } from './rpc-client.ts';

/** A client whose host has a session, and that session a process. */
async function busyClient(): Promise<{ client: RpcClient; family: number[] }> {
  const client = new RpcClient().read();
  await client.open('a');
  const child = Number(await client.call('a', 'start'));
  expect(isAlive(child)).toBe(true);
  const family = descendantsOf(client.pid);
  expect(family).toContain(child);
  return { client, family };
}

async function expectNothingLeft({ client, family }: { client: RpcClient; family: number[] }): Promise<void> {
  await waitUntilEnded(family);
  expect(client.stray).toEqual([]);
}

describe('the end of caldera rpc', () => {
  it('host/close answers after the whole stop, and then the process exits 0', async () => {
    const busy = await busyClient();
    const pending = busy.client.send('tool/call', { sessionId: 'a', name: 'wait', arguments: { into: '/dev/null' } });
    const closing = busy.client.send('host/close');
    const late = busy.client.send('session/tools', { sessionId: 'a' });
    expect((await busy.client.answer(closing)).result).toEqual({});
    expect((await busy.client.answer(pending)).result).toMatchObject({
      details: { error: { code: 'SESSION_CLOSED' } },
    });
    expect((await busy.client.answer(late)).error).toMatchObject({ code: -32000, data: { code: 'HOST_CLOSED' } });
    expect(await busy.client.exited).toEqual({ code: 0, signal: null });
    await expectNothingLeft(busy);
  });

  it('the end of stdin is host/close', async () => {
    const busy = await busyClient();
    busy.client.process.stdin.end();
    expect(await busy.client.exited).toEqual({ code: 0, signal: null });
    await expectNothingLeft(busy);
  });

  it('a last line without a newline is still a request', async () => {
    const client = new RpcClient([]).read();
    client.process.stdin.end('{"jsonrpc":"2.0","id":"last","method":"host/inspect"}');
    expect((await client.answer('last')).result).toBeDefined();
    expect((await client.exited).code).toBe(0);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('%s stops everything and answers what is in flight', async (signal) => {
    const busy = await busyClient();
    const pending = busy.client.send('tool/call', { sessionId: 'a', name: 'wait', arguments: { into: '/dev/null' } });
    await busy.client.call('a', 'echo');
    const from = performance.now();
    busy.client.process.kill(signal);
    expect(await busy.client.exited).toEqual({ code: signal === 'SIGTERM' ? 143 : 130, signal: null });
    expect(performance.now() - from).toBeLessThan(10_000);
    expect((await busy.client.answer(pending)).result).toMatchObject({
      details: { error: { code: 'SESSION_CLOSED' } },
    });
    await expectNothingLeft(busy);
  });

  it('a client that closes stdout ends the host', async () => {
    const busy = await busyClient();
    busy.client.process.stdout.destroy();
    busy.client.send('host/inspect');
    expect(await busy.client.exited).toEqual({ code: 0, signal: null });
    await waitUntilEnded(busy.family);
  });

  it('a client that is killed ends the host, with everything it started', async () => {
    const busy = await busyClient();
    // All that a host sees of a dead client: its ends of the pipes are closed.
    busy.client.process.stdin.destroy();
    busy.client.process.stdout.destroy();
    busy.client.process.stderr.destroy();
    await waitUntilEnded([busy.client.pid, ...busy.family]);
  });
});
