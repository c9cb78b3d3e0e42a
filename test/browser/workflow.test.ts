/** The stateful runtime against the real thing: @playwright/mcp and a Chromium, from the catalogue to both snapshots. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ExtensionHost, mcpExtension } from '../../src/host/index.ts';
import {
  createFileSaver,
  Planner,
  type RunEvent,
  readDeployment,
  type ToolExecutor,
} from '../../src/host/workflow/index.ts';
import { runDeployment } from '../../src/host/workflow/run-deployment.ts';
import { playwrightServer, serveShop } from '../support/browser.ts';
import { makeHost } from '../support/extension-fixtures.ts';
import { descendantsOf, waitUntil } from '../support/processes.ts';
import { makeWorkspace } from '../support/workspace.ts';

const BUY = {
  id: 'buy',
  connections: ['playwright'],
  entry: 'open',
  nodes: [
    { id: 'open', capability: 'playwright.browser_navigate', input: { url: '${input.url}' }, next: { ok: 'before' } },
    { id: 'before', capability: 'playwright.browser_snapshot', next: { ok: 'buy', state_lost: 'open' } },
    {
      id: 'buy',
      capability: 'playwright.browser_click',
      input: { element: 'the button Buy', target: 'button' },
      next: { ok: 'after', state_lost: 'open' },
    },
    { id: 'after', capability: 'playwright.browser_snapshot', next: { state_lost: 'open' } },
  ],
};

function stage(): { readonly host: ExtensionHost; readonly planner: Planner; readonly agentDir: string } {
  const agentDir = makeWorkspace('agent');
  mkdirSync(join(agentDir, 'deployments'));
  writeFileSync(join(agentDir, 'deployments', 'buy.json'), JSON.stringify(BUY));
  const host = makeHost([mcpExtension({ servers: { playwright: playwrightServer() } })], { agentDir });
  return { host, planner: new Planner(host, { cwd: makeWorkspace() }), agentDir };
}

const steps = (trace: readonly RunEvent[]) => trace.map(({ node, outcome }) => `${node} ${outcome}`);
const atRest = (): Promise<unknown> => waitUntil(() => descendantsOf().length <= 1, 'nothing but the guard is left');

describe('a workflow on @playwright/mcp', { timeout: 120_000 }, () => {
  // WF-T11-CATALOG, WF-T11-STATE, WF-T11-KEYS, WF-T11-TRACE
  test('keeps its page from step to step, and has both snapshots in its output', async () => {
    const { host, planner } = stage();
    const shop = await serveShop();
    await planner.refreshConnectionCatalog('playwright');
    const names = (await planner.listCapabilities()).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'playwright.browser_navigate',
        'playwright.browser_snapshot',
        'playwright.browser_click',
        'playwright.browser_evaluate',
      ]),
    );
    await planner.close();
    const { outcome, trace, nodes } = await planner.runDeployment('buy', { url: shop.url });
    expect(outcome).toBe('ok');
    expect(steps(trace)).toEqual(['open ok', 'before ok', 'buy ok', 'after ok']);
    expect(trace.map(({ argumentKeys }) => argumentKeys)).toEqual([['url'], [], ['element', 'target'], []]);
    expect(new Set(trace.map(({ epoch }) => epoch)).size).toBe(1);
    expect(nodes['before']?.output?.content).toContain('heading "Not bought"');
    expect(nodes['after']?.output?.content).toContain('heading "Bought"');
    expect(shop.clicks()).toBe(1);
    await waitUntil(() => host.inspect().processes.length === 0, "the end of the run's processes");
    await host.close();
    await atRest();
  });

  test('goes back to its entry when its server is killed between two steps, and buys once', async () => {
    const { host, agentDir } = stage();
    const shop = await serveShop();
    const session = await host.openSession({ id: 'run', cwd: makeWorkspace() });
    let killed = false;
    const killing: ToolExecutor = {
      async callTool(connectionId, tool, payload, options) {
        if (tool === 'browser_click' && !killed) {
          killed = true;
          const [server] = host.inspect().processes;
          if (!server) throw new Error('no server runs');
          process.kill(server.pid, 'SIGKILL');
          await waitUntil(() => host.inspect().processes.length === 0, 'the host to know');
        }
        return session.executor.callTool(connectionId, tool, payload, options);
      },
    };
    const { outcome, trace, nodes } = await runDeployment({
      runId: 'run',
      deployment: readDeployment('buy', join(agentDir, 'deployments')),
      input: { url: shop.url },
      session: { catalog: session.catalog, executor: killing, failures: [] },
      saver: await createFileSaver(join(agentDir, 'runs')),
      resume: false,
    });
    expect(outcome).toBe('ok');
    expect(steps(trace)).toEqual([
      'open ok',
      'before ok',
      'buy state_lost',
      'open ok',
      'before ok',
      'buy ok',
      'after ok',
    ]);
    expect(nodes['after']?.output?.content).toContain('heading "Bought"');
    expect(shop.clicks()).toBe(1);
    await host.close();
    await atRest();
  });
});
