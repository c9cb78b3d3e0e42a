import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { processesWith, waitUntil } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';
import { runCommandLine, startCommandLine } from './command-line.ts';

/** Ends a broken test; the demo takes six seconds on a quiet machine. */
const PATIENCE = { timeout: 60_000 };

describe('caldera demo', PATIENCE, () => {
  it('shows everything it promises and leaves nothing behind', async () => {
    const temp = makeWorkspace('demo');
    const { code, stdout, stderr } = await runCommandLine(['demo', '--no-browser', '--json'], {
      env: { TMPDIR: temp },
    });
    expect(stderr).toBe('');
    const report = JSON.parse(stdout) as { ok: boolean; steps: { step: string; ok: boolean }[] };
    expect(report.steps).toMatchObject([
      { step: 'tools', ok: true },
      {
        step: 'state',
        ok: true,
        chats: [{ notes: ['buy bread', 'call Ana'] }, { notes: ['feed the cat'] }, { notes: [] }],
      },
      { step: 'crash', ok: true, after: { notes: [] }, others: [{ notes: ['buy bread', 'call Ana'] }, { notes: [] }] },
      { step: 'cancel', ok: true, code: 'ABORTED', cancelledAtServer: 1 },
      { step: 'load', ok: true, calls: 300, failed: 0 },
      { step: 'flood', ok: true, records: 200_000 },
      { step: 'stall', ok: true, code: 'THREAD_STALLED', generation: 2 },
      { step: 'loop', ok: true, processes: 3 },
    ]);
    expect(report.ok).toBe(true);
    expect(code).toBe(0);
    expect(readdirSync(temp)).toEqual([]);
    await waitUntil(() => processesWith(temp).length === 0, 'no process is left');
  });

  it('is text for people, without colours in a pipe, and says what to try next', async () => {
    const { code, stdout } = await runCommandLine(['demo', '--no-browser']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/chat-1 +process \d+ +buy bread, call Ana/);
    expect(stdout).toMatch(/p50 [\d.]+ ms +p99 [\d.]+ ms +max [\d.]+ ms/);
    expect(stdout).toContain('What next:');
    expect(stdout).not.toContain('\u001b');
    expect(stdout).not.toContain('not what was promised');
  });

  it('is ended by Ctrl-C with 130 and nothing left', async () => {
    const temp = makeWorkspace('demo');
    const child = startCommandLine(['demo', '--no-browser'], { env: { TMPDIR: temp } });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    // The next thing the demo does is to start its servers.
    await waitUntil(() => stdout.includes('The tools'), 'the first step');
    child.kill('SIGINT');
    expect(await new Promise((resolve) => child.on('exit', (code) => resolve(code)))).toBe(130);
    await waitUntil(() => processesWith(temp).length === 0, 'no process is left');
  });
});
