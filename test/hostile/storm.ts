/** An extension that dies whenever it starts, and sessions that want it all the same. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExtensionHost } from '../../src/host/index.ts';
import { DEFAULT_LIMITS } from '../../src/shared/limits.ts';
import { type Attack, neighbourOf, open, type Stage, textOf } from './scenarios.ts';

const ROUNDS = 12;
/** The host's default: so many deaths end the restarts. */
const MOST_STARTS = DEFAULT_LIMITS.crashLoopDeaths;

/** A host of its own: it keeps the default limit of deaths, and does not wait between them. */
export async function storm(
  { cwd, watch, neighbour, agentDir }: Omit<Stage, 'host'> & { readonly neighbour: string; readonly agentDir: string },
  { path, tier }: Attack,
): Promise<object> {
  const limits = { restartBackoffMs: [0], stallMs: 1000, sandboxCpuMs: 200 };
  const host = new ExtensionHost({ agentDir, extensions: [neighbour], limits });
  try {
    const id = await host.load({ path, tier });
    let starts = 0;
    host.on('extension-state', ({ extension, generation }) => {
      if (extension === id) starts = Math.max(starts, generation);
    });
    watch.begin();
    const from = performance.now();
    const beside = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const session = await open({ host, cwd }, 'storm');
      await session.callTool({ name: `ok_${id}` }, { timeoutMs: 5000 });
      beside.add(await neighbourOf(session));
      await session.close();
    }
    const ms = performance.now() - from;
    const state = host.inspect().extensions.find(({ name }) => name === id)?.state;
    const { gapMs } = watch;
    return {
      ms,
      gapMs,
      text: JSON.stringify({ state, starts }),
      wasEnded: state === 'crash-looping' && starts <= MOST_STARTS,
      beside: [...beside].join(),
      again: await afterMending(host, cwd, id, path),
      isClean: watch.isClean,
      rssMb: process.memoryUsage().rss / 2 ** 20,
    };
  } finally {
    await host.close();
  }
}

/** The stop holds until the operator says otherwise. */
async function afterMending(host: ExtensionHost, cwd: string, id: string, path: string): Promise<string> {
  copyFileSync(join(path, 'mended.mjs'), join(path, 'index.mjs'));
  await host.reload(id);
  const session = await open({ host, cwd }, 'mended');
  const answer = await session.callTool({ name: `ok_${id}` }, { timeoutMs: 5000 });
  return answer.isError ? JSON.stringify(answer).slice(0, 500) : textOf(answer);
}
