/**
 * Adds up what a CI run did and ends with the line `N passed, N failed, N skipped`; exits 1 when anything failed.
 *
 *   node test/support/ci-summary.mjs <step>=<exit code>… <report.json>…
 *
 * - A test that several runs hold (`check` runs a part of what `npm test` runs) counts once, with its worst outcome.
 * - A file that could not be imported, or a hook of it that failed, has no failed test: it counts as one failure.
 * - So does a report that is missing (the step stopped before its tests), and a step that ended badly although nothing
 *   else failed.
 * - Below a failed test stands what it said; who reads the end of a log has nothing else.
 *
 * It uses Node alone, so that it can still speak when `npm ci` has failed.
 */
import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const RANK = { skipped: 0, passed: 1, failed: 2 };
const OUTCOMES = { passed: 'passed', failed: 'failed' };

const SHOWN = 800;

/** Each thing that counts, by its name: its outcome, and what it said when it failed. */
const outcomes = new Map();

function record(name, outcome, reason = '') {
  const before = outcomes.get(name);
  if (before === undefined || RANK[outcome] > RANK[before.outcome]) outcomes.set(name, { outcome, reason });
}

function addReport(path) {
  const report = JSON.parse(readFileSync(path, 'utf8'));
  for (const file of report.testResults) {
    const where = relative(process.cwd(), file.name);
    const seen = new Map();
    for (const test of file.assertionResults) {
      // Two tests of one file may have the same name; the same one has the same place among them in every run.
      const nth = (seen.get(test.fullName) ?? 0) + 1;
      seen.set(test.fullName, nth);
      const name = `${where} > ${test.fullName}${nth > 1 ? ` (${nth})` : ''}`;
      record(name, OUTCOMES[test.status] ?? 'skipped', (test.failureMessages ?? []).map(withoutStack).join('\n'));
    }
    if (file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed')) {
      record(`${where} (the file itself: ${firstLine(file.message)})`, 'failed');
    }
  }
}

function withoutStack(text) {
  const plain = stripVTControlCharacters(String(text));
  return plain.split(/\n\s+at /, 1)[0].slice(0, SHOWN);
}

function firstLine(text) {
  return String(text ?? '')
    .trim()
    .split('\n')[0];
}

const badSteps = [];
for (const argument of process.argv.slice(2)) {
  const step = /^(.+)=(\d+)$/.exec(argument);
  if (step) {
    if (step[2] !== '0') badSteps.push(`${step[1]} (exit code ${step[2]})`);
    continue;
  }
  try {
    addReport(argument);
  } catch (error) {
    record(`${basename(argument)} (no usable report: ${firstLine(error.message)})`, 'failed');
  }
}

const having = (wanted) => [...outcomes].filter(([, { outcome }]) => outcome === wanted);
if (having('failed').length === 0) for (const step of badSteps) record(step, 'failed');

for (const step of badSteps) console.log(`FAILED STEP ${step}`);
for (const [name, { reason }] of having('failed')) {
  console.log(`FAILED ${name}`);
  if (reason) console.log(reason.replaceAll(/^/gm, '    '));
}
console.log(
  `${having('passed').length} passed, ${having('failed').length} failed, ${having('skipped').length} skipped`,
);
process.exitCode = having('failed').length > 0 ? 1 : 0;
