import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../../src/host/workflow/index.ts';
import { CLICK_ONCE, pageServer, readPageLog } from '../../support/page-server.ts';
import { processesWith, waitUntil } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';
import { runCommandLine, startCommandLine } from './command-line.ts';

const PATIENCE = { timeout: 60_000 };
const INPUT = '{"url": "https://shop.test/"}';

const SLOW = {
  id: 'slow',
  connections: ['page'],
  entry: 'wait',
  nodes: [{ id: 'wait', capability: 'page.slow', input: { ms: 60_000 }, next: {} }],
};

function stage(deployment: unknown = CLICK_ONCE) {
  const cwd = makeWorkspace('run');
  const agentDir = join(cwd, 'agent');
  const log = join(cwd, 'page.log');
  mkdirSync(join(agentDir, 'deployments'), { recursive: true });
  const file = join(agentDir, 'deployments', 'it.json');
  writeFileSync(file, JSON.stringify(deployment));
  const config = join(cwd, 'caldera.json');
  writeFileSync(config, JSON.stringify({ mcp: { servers: { page: pageServer({ PAGE_LOG: log }) } } }));
  return { cwd, file, log, flags: ['--config', config, '--agent-dir', agentDir, '--cwd', cwd] };
}

describe('caldera run', PATIENCE, () => {
  it('prints the trace as it goes, then the outcome and the last output', async () => {
    const { cwd, file, flags } = stage();
    const { code, stdout, stderr } = await runCommandLine(['run', file, ...flags, '--input', INPUT]);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^open +ok +\d+ ms {2}\S+-\d+ {2}sent: url\nbefore +ok +\d+ ms {2}\S+-\d+ {2}sent: nothing\n/,
    );
    expect(stdout).toMatch(/\nrun-[\da-f-]+: ok\nhttps:\/\/shop\.test\/ button \[ref=e2\] clicks: 1\n$/);
    await waitUntil(() => processesWith(cwd).length === 0, 'no process is left');
  });

  it('finds a deployment by its id, reads the input from stdin, and prints one document with --json', async () => {
    const { flags } = stage();
    const { code, stdout } = await runCommandLine(['run', 'it', ...flags, '--json', '--input', '-'], { input: INPUT });
    const result = JSON.parse(stdout) as RunResult;
    expect(result).toMatchObject({ deployment: 'click-once', outcome: 'ok', output: { structured: { clicks: 1 } } });
    expect(result.trace.map(({ node }) => node)).toEqual(['open', 'before', 'click', 'after']);
    expect(code).toBe(0);
  });

  it('ends with 1 when the run ends with anything but ok', async () => {
    const look = { ...SLOW, nodes: [{ id: 'wait', capability: 'page.snapshot', input: {}, next: {} }] };
    const { file, flags } = stage(look);
    const { code, stdout } = await runCommandLine(['run', file, ...flags]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/: error\nNo open pages available\n$/);
  });

  it('ends with 2 and every problem with its line when the deployment is wrong', async () => {
    const { file, flags } = stage({ ...CLICK_ONCE, entry: 'opn', nodes: [...CLICK_ONCE.nodes, { id: 'x' }] });
    const { code, stderr } = await runCommandLine(['run', file, ...flags]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${file}:1: entry: there is no node "opn"; did you mean "open"?`);
    expect(stderr).toContain(`${file}:1: nodes[4].capability: must be`);
  });

  it.each([
    [['--input', '[]'], '--input must be a JSON object'],
    [['--input', '@nowhere.json'], '--input @nowhere.json cannot be read'],
    [['--max-steps', '0'], '--max-steps must be a positive whole number'],
    [['--resume', 'r', '--run-id', 'r'], '--resume takes neither'],
    [['--resume', 'nothing'], 'there is no run nothing to resume'],
    [['--run-id', 'no spaces'], 'the run id "no spaces" must be'],
    [[], 'the input of deployment click-once lacks url'],
  ])('ends with 2 for %j', async (more, said) => {
    const { file, flags } = stage();
    const { code, stderr } = await runCommandLine(['run', file, ...flags, ...more]);
    expect(stderr).toContain(said);
    expect(code).toBe(2);
  });

  it('that is interrupted cancels at the server, says how to go on, and leaves nothing', async () => {
    const { cwd, file, flags, log } = stage(SLOW);
    const child = startCommandLine(['run', file, ...flags, '--run-id', 'mine']);
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    await waitUntil(() => readPageLog(log).length > 0, 'the call to reach the server', { timeoutMs: 30_000 });
    child.kill('SIGTERM');
    expect(await new Promise((resolve) => child.on('exit', (code) => resolve(code)))).toBe(143);
    expect(readPageLog(log).map(({ event }) => event)).toEqual(['call', 'cancelled']);
    expect(stderr).toContain('--resume mine');
    await waitUntil(() => processesWith(cwd).length === 0, 'no process is left');
  });
});
