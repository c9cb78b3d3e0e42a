/**
 * `npm run bench [-- --json]`: CPU of the main thread a call, Caldera against the bare SDK, over the same fake server.
 * Each measurement is a process of its own; both sides take turns, and the least of the rounds counts: what else a machine
 * does only adds. Ends with 1 when a ratio is over its bound. CPU time is what is compared: wall time varies threefold on a
 * busy machine. Linux only.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import type { CallCost } from './measure-calls.ts';
import type { SessionCost } from './measure-sessions.ts';
import { WORKLOADS, type Workload } from './workloads.ts';

const ROUNDS = 5;
const SESSIONS = 1000;
const HOOK = new URL('../test/support/ts-worker-hook.mjs', import.meta.url).href;

interface Comparison extends Pick<Workload, 'name' | 'mostRatio'> {
  /** Of the best round, in milliseconds of main-thread CPU a call. */
  readonly bareMs: number;
  readonly calderaMs: number;
  readonly ratio: number;
  readonly ok: boolean;
}

async function measure<T>(program: string, words: readonly string[]): Promise<T> {
  const file = fileURLToPath(new URL(program, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', '--import', HOOK, file, ...words]);
  return JSON.parse(stdout) as T;
}

async function compare({ name, mostRatio }: Workload): Promise<Comparison> {
  const [bare, caldera]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push((await measure<CallCost>('measure-calls.ts', ['bare', name])).mainMs);
    caldera.push((await measure<CallCost>('measure-calls.ts', ['caldera', name])).mainMs);
  }
  const [bareMs, calderaMs] = [Math.min(...bare), Math.min(...caldera)];
  const ratio = calderaMs / bareMs;
  const bound = mostRatio === undefined ? {} : { mostRatio };
  return { name, ...bound, bareMs, calderaMs, ratio, ok: mostRatio === undefined || ratio < mostRatio };
}

function line(cells: readonly string[]): string {
  const [first = '', ...others] = cells;
  return [first.padEnd(26), ...others.map((cell) => cell.padStart(12))].join('');
}

function row({ name, bareMs, calderaMs, ratio, mostRatio, ok }: Comparison): string {
  const bound = mostRatio === undefined ? 'reported' : `< ${mostRatio}`;
  return line([name, bareMs.toFixed(3), calderaMs.toFixed(3), ratio.toFixed(2), `${bound}${ok ? '' : ' MISSED'}`]);
}

const { json = false } = parseArgs({ options: { json: { type: 'boolean' } } }).values;
const say = (text: string): void => {
  if (!json) console.log(text);
};
say(line(['main-thread CPU a call', 'bare ms', 'caldera ms', 'ratio', 'bound']));
const calls: Comparison[] = [];
for (const workload of WORKLOADS) {
  const comparison = await compare(workload);
  calls.push(comparison);
  say(row(comparison));
}
const sessions = await measure<SessionCost>('measure-sessions.ts', [String(SESSIONS)]);
say(
  `\n${sessions.sessions} sessions opened: ${sessions.mainMs.toFixed(2)} ms of main-thread CPU and ` +
    `${sessions.heapKb.toFixed(1)} KB of main's heap each, ${sessions.wallMs.toFixed(1)} ms of wall time`,
);
const ok = calls.every((comparison) => comparison.ok);
if (json) console.log(JSON.stringify({ ok, node: process.version, calls, sessions }, null, 2));
process.exitCode = ok ? 0 : 1;
