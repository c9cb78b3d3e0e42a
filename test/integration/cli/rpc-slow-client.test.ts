import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/processes.ts';
import { RpcClient } from './rpc-client.ts';

// 3.2 MB: within what one thread may log in a second, and well over what waits for a client that is behind.
const LINES = 800;
const BYTES = 4000;

describe('a client that does not read for a while', () => {
  it('loses log notifications and is told how many, but no answer; the host goes on meanwhile', async () => {
    const client = new RpcClient().read();
    await client.open('a');
    client.process.stdout.pause();
    const flooding = client.send('tool/call', {
      sessionId: 'a',
      name: 'flood',
      arguments: { lines: LINES, bytes: BYTES },
    });
    await waitUntil(() => floodRecords(client.stderr) === LINES, 'the flood is over, as stderr shows');
    const growing = client.send('tool/call', { sessionId: 'a', name: 'grow' });
    const closing = client.send('host/close');
    client.process.stdout.resume();

    expect((await client.answer(flooding)).result).toBeDefined();
    expect((await client.answer(growing)).result).toBeDefined();
    expect((await client.answer(closing)).result).toEqual({});
    expect((await client.exited).code).toBe(0);
    const { dropped } = await client.notification('log', { message: 'notifications dropped: the client did not read' });
    const received = client.notifications('log').filter(({ message }) => /^x+$/.test(String(message))).length;
    expect(dropped).toEqual({ log: LINES - received });
    expect(received).toBeLessThan(LINES / 2);
    expect(client.stray).toEqual([]);
  });

  it('and never reads again: host/close still ends the process', async () => {
    const client = new RpcClient().read();
    await client.open('a');
    client.process.stdout.pause();
    client.send('tool/call', { sessionId: 'a', name: 'flood', arguments: { lines: LINES, bytes: BYTES } });
    await waitUntil(() => floodRecords(client.stderr) === LINES, 'the flood is over, as stderr shows');
    client.send('host/close');
    const exit = await new Promise((resolve) => client.process.on('exit', (code) => resolve(code)));
    expect(exit).toBe(0);
  });
});

function floodRecords(stderr: string): number {
  return stderr.split('"msg":"xxx').length - 1;
}
