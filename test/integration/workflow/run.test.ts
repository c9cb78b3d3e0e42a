import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ExtensionHost, mcpExtension } from '../../../src/host/index.ts';
import { Planner, type RunEvent } from '../../../src/host/workflow/index.ts';
import { makeHost } from '../../support/extension-fixtures.ts';
import { CLICK_ONCE, pageServer, readPageLog } from '../../support/page-server.ts';
import { waitUntil } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const INPUT = { url: 'https://shop.test/' };

interface Stage {
  readonly host: ExtensionHost;
  readonly planner: Planner;
  readonly log: string;
}

function stage(env: Readonly<Record<string, string>> = {}): Stage {
  const cwd = makeWorkspace();
  const log = join(cwd, 'page.log');
  const host = makeHost([mcpExtension({ servers: { page: pageServer({ PAGE_LOG: log, ...env }) } })]);
  return { host, planner: new Planner(host, { cwd }), log };
}

const steps = (trace: readonly RunEvent[]) => trace.map(({ node, outcome }) => `${node} ${outcome}`);
const toolsOf = (log: string) => readPageLog(log).map(({ tool }) => tool);

describe('a deployment', () => {
  // WF-PERSISTENT, WF-POOL-LIVE, WF-POOL-REUSE, WF-T6-TRANSPORTS, WF-T11-TRACE
  test('meets one and the same process at every step, and its output has both snapshots', async () => {
    const { host, planner, log } = stage();
    const seen: RunEvent[] = [];
    const result = await planner.runDeployment(CLICK_ONCE, INPUT, { onEvent: (event) => seen.push(event) });
    expect(result).toMatchObject({
      deployment: 'click-once',
      outcome: 'ok',
      nodes: {
        before: { output: { content: 'https://shop.test/ button [ref=e2] clicks: 0' } },
        after: { output: { content: 'https://shop.test/ button [ref=e2] clicks: 1' } },
      },
      output: { structured: { clicks: 1 } },
    });
    expect(steps(result.trace)).toEqual(['open ok', 'before ok', 'click ok', 'after ok']);
    expect(new Set(result.trace.map(({ epoch }) => epoch)).size).toBe(1);
    expect(seen).toEqual(result.trace);
    expect(new Set(readPageLog(log).map(({ pid }) => pid)).size).toBe(1);
    expect(host.inspect().sessions).toEqual([]);
    await waitUntil(() => host.inspect().processes.length === 0, 'the end of its processes');
  });

  // WF-T3-UNSET
  test('sends the keys that are mapped and no others', async () => {
    const { planner, log } = stage();
    const { trace } = await planner.runDeployment(CLICK_ONCE, INPUT);
    expect(trace.map(({ argumentKeys }) => argumentKeys)).toEqual([['url'], [], ['target'], []]);
    expect(readPageLog(log).map(({ keys }) => keys)).toEqual([['url'], [], ['target'], []]);
  });

  // WF-POOL-RECONNECT, WF-RISK-CRASH
  test('goes back to its entry when its server dies in the middle of a step, and ends right', async () => {
    const flag = join(makeWorkspace('flag'), 'died');
    const { planner } = stage({ PAGE_DIES_AT: `click:${flag}` });
    const { outcome, trace, nodes } = await planner.runDeployment(CLICK_ONCE, INPUT);
    expect(outcome).toBe('ok');
    expect(steps(trace)).toEqual([
      'open ok',
      'before ok',
      'click server_exited',
      'open ok',
      'before ok',
      'click ok',
      'after ok',
    ]);
    expect(nodes['after']?.output?.structured).toMatchObject({ clicks: 1 });
  });

  test('does not act on a blank page: a step that finds another process is state_lost, and is not sent', async () => {
    const flag = join(makeWorkspace('flag'), 'died');
    const { planner, log } = stage({ PAGE_DIES_AT: `click:${flag}` });
    // The click dies with its server, and its edge leads on to a step that would look at an empty page.
    const careless = {
      ...CLICK_ONCE,
      nodes: CLICK_ONCE.nodes.map((node) =>
        node.id === 'click' ? { ...node, next: { ok: 'after', error: 'after' } } : node,
      ),
    };
    const { outcome, trace } = await planner.runDeployment(careless, INPUT);
    expect(outcome).toBe('ok');
    expect(steps(trace).slice(2, 5)).toEqual(['click server_exited', 'after state_lost', 'open ok']);
    expect(toolsOf(log)).toEqual(['navigate', 'snapshot', 'click', 'navigate', 'snapshot', 'click', 'snapshot']);
  });

  // WF-T1-BLANK-PAGE
  test('ends with an outcome that leads nowhere', async () => {
    const { planner } = stage();
    const only = {
      id: 'blank',
      connections: ['page'],
      entry: 'look',
      nodes: [{ id: 'look', capability: 'page.snapshot', input: {}, next: {} }],
    };
    const result = await planner.runDeployment(only);
    expect(result).toMatchObject({
      outcome: 'error',
      message: 'No open pages available',
      output: { content: 'No open pages available' },
    });
  });

  test('is ended as an error when it goes round without an end', async () => {
    const { planner } = stage();
    const round = {
      id: 'round',
      connections: ['page'],
      entry: 'open',
      nodes: [{ id: 'open', capability: 'page.navigate', input: { url: 'a' }, next: { ok: 'open' } }],
    };
    const result = await planner.runDeployment(round, {}, { maxSteps: 5 });
    expect(result).toMatchObject({ outcome: 'error', message: expect.stringContaining('after 5 nodes') });
    expect(result.trace).toHaveLength(5);
  });

  test('that is aborted rejects as an abort, and the call is cancelled at the server', async () => {
    const { host, planner, log } = stage();
    const slow = {
      id: 'slow',
      connections: ['page'],
      entry: 'wait',
      nodes: [{ id: 'wait', capability: 'page.slow', input: { ms: 60_000 }, next: {} }],
    };
    const abort = new AbortController();
    const run = planner.runDeployment(slow, {}, { signal: abort.signal });
    await waitUntil(() => readPageLog(log).length > 0, 'the call to reach the server', { timeoutMs: 30_000 });
    abort.abort();
    await expect(run).rejects.toMatchObject({ name: 'AbortError', code: 'ABORTED' });
    expect(readPageLog(log).map(({ event }) => event)).toEqual(['call', 'cancelled']);
    await waitUntil(() => host.inspect().processes.length === 0, 'the end of its processes');
  });

  test('says everything that is wrong before anything starts', async () => {
    const { planner, log } = stage();
    const wrong = {
      id: 'wrong',
      connections: ['page'],
      entry: 'open',
      nodes: [
        { id: 'open', capability: 'page.navigat', input: {}, next: { ok: 'click' } },
        { id: 'click', capability: 'page.click', input: { targets: 'x' }, next: {} },
      ],
    };
    await expect(planner.runDeployment(wrong)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      data: {
        problems: [
          'nodes[0].capability: there is no page.navigat; did you mean "page.navigate"?',
          'nodes[1].input: target is required and not mapped',
          'nodes[1].input: the tool takes no targets; did you mean "target"?',
        ],
      },
    });
    await expect(planner.runDeployment(CLICK_ONCE)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'the input of deployment click-once lacks url',
    });
    expect(readPageLog(log)).toEqual([]);
  });

  test('names the reason when its connection offers nothing', async () => {
    const host = makeHost([
      mcpExtension({ servers: { page: { command: process.execPath, args: ['-e', 'process.exit(7)'] } } }),
    ]);
    const planner = new Planner(host, { cwd: makeWorkspace() });
    await expect(planner.runDeployment(CLICK_ONCE, INPUT)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      data: {
        problems: ['connections[0]: page offers nothing: page MCP server exited with code 7 before it was ready.'],
      },
    });
  });
});
