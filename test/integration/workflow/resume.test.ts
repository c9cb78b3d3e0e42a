import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { mcpExtension } from '../../../src/host/index.ts';
import { Planner, type RunResult } from '../../../src/host/workflow/index.ts';
import { makeHost } from '../../support/extension-fixtures.ts';
import { CLICK_ONCE, pageServer, readPageLog } from '../../support/page-server.ts';
import { processesWith, waitUntil } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const HOOK = new URL('../../support/ts-worker-hook.mjs', import.meta.url).href;
const PROGRAM = fileURLToPath(new URL('../../fixtures/programs/run-click-once.ts', import.meta.url));

/** A host program that is killed by its server in the middle of `tool`, then one that resumes its run. */
function stage(tool: string) {
  const cwd = makeWorkspace();
  const agentDir = makeWorkspace('agent');
  const log = join(cwd, 'page.log');
  const entry = pageServer({ PAGE_LOG: log, PAGE_KILLS_HOST_AT: `${tool}:${join(cwd, 'killed')}` });
  const run = (how: 'begin' | 'resume') =>
    spawnSync(process.execPath, ['--import', HOOK, PROGRAM, agentDir, cwd, 'run-1', how, JSON.stringify(entry)], {
      encoding: 'utf8',
      timeout: 15_000,
    });
  return { cwd, agentDir, log, run };
}

const resultOf = (stdout: string): RunResult => JSON.parse(stdout) as RunResult;

describe('a run whose host was killed', () => {
  // WF-RISK-CRASH
  test('goes back to its entry and clicks once on the page it has then', async () => {
    const { cwd, agentDir, log, run } = stage('click');
    expect(run('begin').signal).toBe('SIGKILL');
    await waitUntil(() => processesWith(cwd).length === 0, 'nothing of the dead host is left');
    const { stdout, stderr } = run('resume');
    expect(stderr).toBe('');
    const { outcome, trace, nodes } = resultOf(stdout);
    expect(outcome).toBe('ok');
    expect(trace.map(({ node, outcome: each }) => `${node} ${each}`)).toEqual([
      'open ok',
      'before ok',
      'click state_lost',
      'open ok',
      'before ok',
      'click ok',
      'after ok',
    ]);
    expect(nodes['after']?.output?.structured).toMatchObject({ clicks: 1 });
    const [firstPid] = readPageLog(log).map(({ pid }) => pid);
    const again = readPageLog(log).filter(({ pid }) => pid !== firstPid);
    expect(again.map(({ tool }) => tool)).toEqual(['navigate', 'snapshot', 'click', 'snapshot']);
    // An ended run has nothing left to resume.
    expect(readdirSync(join(agentDir, 'runs'))).toEqual([]);
  });

  test('begins again when it was killed in its entry', async () => {
    const { cwd, run } = stage('navigate');
    expect(run('begin').signal).toBe('SIGKILL');
    await waitUntil(() => processesWith(cwd).length === 0, 'nothing of the dead host is left');
    const { trace } = resultOf(run('resume').stdout);
    expect(trace.map(({ node }) => node)).toEqual(['open', 'before', 'click', 'after']);
  });

  test('can be resumed although the last line of its file was cut', async () => {
    const { cwd, agentDir, run } = stage('click');
    run('begin');
    await waitUntil(() => processesWith(cwd).length === 0, 'nothing of the dead host is left');
    const [name = ''] = readdirSync(join(agentDir, 'runs'));
    const file = join(agentDir, 'runs', name);
    writeFileSync(file, `${readFileSync(file, 'utf8')}{"op":"put","at":{"conf`);
    expect(resultOf(run('resume').stdout).outcome).toBe('ok');
  });
});

describe('resuming', () => {
  const openStage = () => {
    const cwd = makeWorkspace();
    const host = makeHost([mcpExtension({ servers: { page: pageServer({ PAGE_LOG: join(cwd, 'page.log') }) } })]);
    return { planner: new Planner(host, { cwd }), log: join(cwd, 'page.log') };
  };
  const slow = {
    id: 'slow',
    connections: ['page'],
    entry: 'wait',
    nodes: [{ id: 'wait', capability: 'page.slow', input: { ms: 60_000 }, next: {} }],
  };

  test('is refused when there is nothing to resume', async () => {
    const { planner } = openStage();
    await expect(planner.runDeployment(CLICK_ONCE, {}, { runId: 'no-such', resume: true })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'there is no run no-such to resume: none was interrupted',
    });
  });

  test('is refused under another deployment, and a new run cannot take the id of an interrupted one', async () => {
    const { planner, log } = openStage();
    const abort = new AbortController();
    const run = planner.runDeployment(slow, {}, { runId: 'r', signal: abort.signal });
    await waitUntil(() => readPageLog(log).length > 0, 'the call to reach the server', { timeoutMs: 30_000 });
    abort.abort();
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    const changed = { ...slow, nodes: slow.nodes.map((node) => ({ ...node, input: { ms: 1 } })) };
    await expect(planner.runDeployment(changed, {}, { runId: 'r', resume: true })).rejects.toThrow(/has changed since/);
    await expect(planner.runDeployment(slow, {}, { runId: 'r' })).rejects.toThrow(/was begun before/);
  });
});
