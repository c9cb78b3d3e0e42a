import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { makeWorkspace } from '../support/workspace.ts';

const PROGRAM = fileURLToPath(new URL('../support/ci-summary.mjs', import.meta.url));

type Outcome = 'passed' | 'failed' | 'pending' | 'todo';

/** A file of a vitest report; without `status` it is what its tests say. */
function file(name: string, tests: Record<string, Outcome>, status?: 'passed' | 'failed') {
  const assertionResults = Object.entries(tests).map(([fullName, outcome]) => ({
    fullName,
    status: outcome,
    failureMessages:
      outcome === 'failed' ? ['Error: \u001b[31mexpected 2\u001b[39m\nto be 1\n    at /repo/a.test.ts:1:1'] : [],
  }));
  const failed = assertionResults.some((assertion) => assertion.status === 'failed');
  return {
    name: `/repo/${name}`,
    status: status ?? (failed ? 'failed' : 'passed'),
    message: 'Cannot find x',
    assertionResults,
  };
}

function summarise(steps: string[], ...reports: object[][]) {
  const folder = makeWorkspace();
  const paths = reports.map((testResults, index) => {
    const path = join(folder, `${index}.json`);
    writeFileSync(path, JSON.stringify({ testResults }));
    return path;
  });
  const { status, stdout } = spawnSync(process.execPath, [PROGRAM, ...steps, ...paths], { encoding: 'utf8' });
  return { status, last: stdout.trimEnd().split('\n').at(-1), stdout };
}

test('adds up reports, and counts what two runs hold once', () => {
  const unit = file('a.test.ts', { one: 'passed', two: 'pending', three: 'todo' });
  const { status, last } = summarise(['npm ci=0'], [unit], [unit, file('b.test.ts', { one: 'passed' })]);
  expect({ status, last }).toEqual({ status: 0, last: '2 passed, 0 failed, 2 skipped' });
});

test('the worse outcome of two runs is the one that counts', () => {
  const { status, last } = summarise(
    ['check=1'],
    [file('a.test.ts', { one: 'failed' })],
    [file('a.test.ts', { one: 'passed' })],
  );
  expect({ status, last }).toEqual({ status: 1, last: '0 passed, 1 failed, 0 skipped' });
});

test('below a failed test stands what it said, without colours and stack', () => {
  const { stdout } = summarise(['npm test=1'], [file('a.test.ts', { one: 'failed', two: 'passed' })]);
  expect(stdout).toMatch(/a\.test\.ts > one\n {4}Error: expected 2\n {4}to be 1\n1 passed, 1 failed/);
  expect(stdout).not.toContain('at /repo');
});

test('a file that could not be imported is a failure with its reason', () => {
  const { status, last, stdout } = summarise(
    ['npm test=1'],
    [file('a.test.ts', {}, 'failed'), file('b.test.ts', { one: 'passed' })],
  );
  expect({ status, last }).toEqual({ status: 1, last: '1 passed, 1 failed, 0 skipped' });
  expect(stdout).toContain('a.test.ts (the file itself: Cannot find x)');
});

test('a step that ended badly is a failure although every test passed', () => {
  const { status, last, stdout } = summarise(['npm run check=2', 'npm test=0'], [file('a.test.ts', { one: 'passed' })]);
  expect({ status, last }).toEqual({ status: 1, last: '1 passed, 1 failed, 0 skipped' });
  expect(stdout).toContain('FAILED STEP npm run check (exit code 2)');
});

test('a report that is missing is a failure', () => {
  const { status, last } = summarise(['npm test=0', join(makeWorkspace(), 'none.json')]);
  expect({ status, last }).toEqual({ status: 1, last: '0 passed, 1 failed, 0 skipped' });
});

test('when the packages could not be installed it still ends with its line', () => {
  const { status, last } = summarise(['npm ci=1']);
  expect({ status, last }).toEqual({ status: 1, last: '0 passed, 1 failed, 0 skipped' });
});
