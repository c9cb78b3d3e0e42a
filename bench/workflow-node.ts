/**
 * What a workflow node costs over a plain `callTool`, on the page server of the tests. Prints one JSON document:
 *   node --import ./test/support/ts-worker-hook.mjs bench/workflow-node.ts [calls]
 * Rounds of all ways alternate, and the medians of single calls are compared, so that a busy machine falls on all alike.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExtensionHost, mcpExtension } from '../src/host/index.ts';
import { buildGraph, createFileSaver, type Deployment, nodeSpecs } from '../src/host/workflow/index.ts';
import { pageServer } from '../test/support/page-server.ts';

const CALLS = Number(process.argv[2] ?? 2000);
const BATCH = 50;

const ROUND: Deployment = {
  id: 'round',
  connections: ['page'],
  entry: 'look',
  nodes: [{ id: 'look', capability: 'page.snapshot', input: {}, next: { ok: 'look' } }],
};

const folder = mkdtempSync(join(tmpdir(), 'caldera-bench-'));
const host = new ExtensionHost({
  agentDir: join(folder, 'agent'),
  extensions: [mcpExtension({ servers: { page: pageServer() } })],
});
try {
  const session = await host.openSession({ id: 'bench', cwd: folder });
  const { catalog, executor } = session;
  await session.callTool({ name: 'navigate', arguments: { url: 'a' } });
  const spec = nodeSpecs(catalog, executor).find(({ tool }) => tool === 'snapshot');
  if (!spec) throw new Error('the server offers no snapshot');
  const bare = await buildGraph(ROUND, executor, { catalog });
  const kept = await buildGraph(ROUND, executor, {
    catalog,
    checkpointer: await createFileSaver(join(folder, 'runs')),
  });
  let threads = 0;

  /** A graph that goes round until its limit: its time is divided by its steps. */
  const round = async (graph: typeof bare): Promise<void> => {
    threads += 1;
    const config = { configurable: { thread_id: `t${threads}` }, recursionLimit: BATCH, durability: 'sync' as const };
    await graph.invoke({ input: {} }, config).catch((error: unknown) => {
      if (!(error instanceof Error) || error.name !== 'GraphRecursionError') throw error;
    });
  };
  const each = async (call: () => Promise<unknown>): Promise<void> => {
    for (let i = 0; i < BATCH; i += 1) await call();
  };
  const ways: Readonly<Record<string, () => Promise<void>>> = {
    callTool: () => each(() => session.callTool({ name: 'snapshot', arguments: {} })),
    executor: () => each(() => executor.callTool('page', 'snapshot', {})),
    nodeSpec: () => each(() => spec.invoke({})),
    graphNode: () => round(bare),
    graphNodeWithFileSaver: () => round(kept),
  };

  const times = new Map(Object.keys(ways).map((name) => [name, [] as number[]]));
  for (const run of Object.values(ways)) await run();
  for (let done = 0; done < CALLS; done += BATCH) {
    for (const [name, run] of Object.entries(ways)) {
      const startedAt = performance.now();
      await run();
      times.get(name)?.push(((performance.now() - startedAt) * 1000) / BATCH);
    }
  }
  const medianUs = Object.fromEntries([...times].map(([name, each]) => [name, Math.round(median(each))]));
  const plain = medianUs['callTool'] ?? 0;
  const overheadUs = Object.fromEntries(Object.entries(medianUs).map(([name, us]) => [name, us - plain]));
  console.log(JSON.stringify({ node: process.version, calls: CALLS, medianUs, overheadUs }, null, 2));
} finally {
  await host.close();
  rmSync(folder, { recursive: true, force: true });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
