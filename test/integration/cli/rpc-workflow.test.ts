import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLICK_ONCE, pageServer, readPageLog } from '../../support/page-server.ts';
import { waitUntil } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';
import { RpcClient } from './rpc-client.ts';

/** A run starts a server twice: a discovery's, then its own. Ends a broken test on a loaded machine. */
const PATIENCE_MS = 30_000;
const INPUT = { url: 'https://shop.test/' };

function client(): { readonly rpc: RpcClient; readonly log: string; readonly agentDir: string } {
  const folder = makeWorkspace('workflow');
  const log = join(folder, 'page.log');
  const config = join(folder, 'caldera.json');
  writeFileSync(config, JSON.stringify({ mcp: { servers: { page: pageServer({ PAGE_LOG: log }) } } }));
  const agentDir = join(folder, 'agent');
  mkdirSync(join(agentDir, 'deployments'), { recursive: true });
  return { rpc: new RpcClient(['--config', config, '--agent-dir', agentDir, '--cwd', folder]).read(), log, agentDir };
}

describe('workflow/*', { timeout: 60_000 }, () => {
  // WF-PLANNER, WF-T8-SURFACE
  it('lists what there is and makes steps on the session that the client names', async () => {
    const { rpc, log } = client();
    const { capabilities } = await rpc.result<{ capabilities: { name: string }[] }>('workflow/listCapabilities');
    expect(capabilities.map(({ name }) => name)).toEqual(['page.navigate', 'page.snapshot', 'page.click', 'page.slow']);
    await rpc.open('chat');
    const step = (name: string, input?: object) => rpc.result('workflow/call', { sessionId: 'chat', name, input });
    expect(await step('page.navigate', INPUT)).toMatchObject({ outcome: 'ok', epoch: expect.stringMatching(/-\d+$/) });
    expect(await step('page.snapshot')).toMatchObject({ outcome: 'ok', output: { structured: INPUT } });
    expect(new Set(readPageLog(log).map(({ pid }) => pid)).size).toBe(1);
    const { error } = await rpc.ask('workflow/call', { sessionId: 'chat', name: 'page.snapshott' });
    expect(error).toMatchObject({
      code: -32602,
      message: 'there is no capability page.snapshott; did you mean "page.snapshot"?',
    });
    await rpc.result('host/close');
    expect((await rpc.exited).code).toBe(0);
  });

  it('runs a deployment, given or by id, and tells each node as progress', async () => {
    const { rpc, agentDir } = client();
    writeFileSync(join(agentDir, 'deployments', 'mine.json'), JSON.stringify(CLICK_ONCE));
    const id = rpc.send('workflow/run', { deployment: CLICK_ONCE, input: INPUT });
    const { result } = await rpc.answer(id, PATIENCE_MS);
    expect(result).toMatchObject({ deployment: 'click-once', outcome: 'ok', output: { structured: { clicks: 1 } } });
    expect(rpc.notifications('$/progress')).toEqual([
      { id, progress: 1, message: 'open: ok' },
      { id, progress: 2, message: 'before: ok' },
      { id, progress: 3, message: 'click: ok' },
      { id, progress: 4, message: 'after: ok' },
    ]);
    const again = await rpc.answer(rpc.send('workflow/run', { id: 'mine', input: INPUT, runId: 'r-2' }), PATIENCE_MS);
    expect(again.result).toMatchObject({ runId: 'r-2', outcome: 'ok' });
    await rpc.result('host/close');
  });

  it('cancels a run, and its call at the server', async () => {
    const { rpc, log } = client();
    const slow = {
      id: 'slow',
      connections: ['page'],
      entry: 'wait',
      nodes: [{ id: 'wait', capability: 'page.slow', input: { ms: 60_000 } }],
    };
    const id = rpc.send('workflow/run', { deployment: slow });
    await waitUntil(() => readPageLog(log).length > 0, 'the call to reach the server', { timeoutMs: 30_000 });
    rpc.write({ jsonrpc: '2.0', method: '$/cancel', params: { id } });
    expect((await rpc.answer(id)).error).toMatchObject({ code: -32800 });
    expect(readPageLog(log).map(({ event }) => event)).toEqual(['call', 'cancelled']);
    await rpc.result('host/close');
  });

  it('lists every problem of a deployment', async () => {
    const { rpc } = client();
    const { error } = await rpc.ask('workflow/run', { deployment: { ...CLICK_ONCE, entry: 'nowhere' } });
    expect(error).toMatchObject({
      data: { code: 'CONFIG_INVALID', problems: ['entry: there is no node "nowhere"; did you mean "open"?'] },
    });
    expect((await rpc.ask('workflow/run', {})).error).toMatchObject({ code: -32602 });
    await rpc.result('host/close');
  });
});
