import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Preload that lets worker threads started by a test load our own .ts files (Node 20 cannot by itself). */
const workerHook = new URL('./test/support/ts-worker-hook.mjs', import.meta.url).href;

/** Set by .ci/run: where the machine-readable report of this run goes. */
const report = process.env['CALDERA_TEST_REPORT'];

/** Neither threads nor processes. */
const plain = (name: string) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/!(*.quiet).test.ts`] },
});

/** Tests that start threads or processes; both inherit the preload through process.execArgv. */
const threaded = (name: string) => ({
  extends: true as const,
  test: {
    ...plain(name).test,
    pool: 'forks' as const,
    execArgv: ['--import', workerHook],
    testTimeout: 20_000,
  },
});

/**
 * What compares latencies runs when everything else is done: a test file beside it would be measured, too. Such files end in
 * `.quiet.test.ts`, wherever they are.
 */
const quiet = {
  ...threaded('quiet'),
  test: { ...threaded('quiet').test, include: ['test/**/*.quiet.test.ts'], sequence: { groupOrder: 1 } },
};

/** One folder of test/ is one project: `vitest run --project unit`. */
const PROJECTS = [
  plain('unit'),
  plain('pins'),
  ...['integration', 'e2e', 'hostile', 'package', 'browser'].map(threaded),
  quiet,
];

export default defineConfig({
  test: {
    // Vitest leaves one core free; on two that is one worker, and these tests wait more than they compute.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    // v8 coverage sees only vitest's own threads, so the thread entry never counts; keep it tiny.
    coverage: { provider: 'v8', include: ['src/**/*.ts'], exclude: ['src/**/*.d.ts', 'src/worker/entry.ts'] },
    projects: PROJECTS,
  },
});
