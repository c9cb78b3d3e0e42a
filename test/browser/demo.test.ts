import { expect, test } from 'vitest';
import { runCommandLine } from '../integration/cli/command-line.ts';
import { processesWith, waitUntil } from '../support/processes.ts';
import { makeWorkspace } from '../support/workspace.ts';

test('the demo gives a fourth chat a browser where there is one, and leaves nothing of it', {
  timeout: 240_000,
}, async () => {
  const temp = makeWorkspace('demo');
  const { code, stdout } = await runCommandLine(['demo', '--json'], { env: { TMPDIR: temp } });
  const { steps } = JSON.parse(stdout) as { steps: { step: string }[] };
  expect(steps.find(({ step }) => step === 'browser')).toMatchObject({ ok: true, button: 'Clicked 2' });
  expect(steps.filter((step) => !('ok' in step && step.ok))).toEqual([]);
  expect(code).toBe(0);
  await waitUntil(() => processesWith(temp).length === 0, 'no process is left');
});
