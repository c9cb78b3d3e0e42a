/**
 * The host under attack, a process of its own: it may die of an attack. Reads one JSON command a line and answers each. It also
 * looks at its own main thread: prototypes, event loop.
 */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ExtensionHost } from '../../src/host/index.ts';
import { MainThreadWatch } from './main-thread-watch.ts';
import { type Attack, SCENARIOS, type Stage } from './scenarios.ts';
import { storm } from './storm.ts';

const [, , agentDir = '', cwd = '', neighbour = ''] = process.argv;
const host = new ExtensionHost({
  agentDir,
  extensions: [neighbour],
  // The same ends come sooner.
  limits: { restartBackoffMs: [0], crashLoopDeaths: 100, stallMs: 3000, factoryMs: 3000 },
});
const watch = new MainThreadWatch();
const stage: Stage = { host, cwd, watch };

for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...attack } = JSON.parse(line) as Attack & {
    readonly command: keyof typeof SCENARIOS | 'storm' | 'close';
  };
  const answer = await answerTo(command, attack).catch((error: unknown) => ({ failed: String(error) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
  if (command === 'close') process.exit(0);
}

async function answerTo(command: keyof typeof SCENARIOS | 'storm' | 'close', attack: Attack): Promise<object> {
  if (command === 'close') return host.close().then(() => ({}));
  if (command === 'storm') return storm({ cwd, watch, neighbour, agentDir: join(agentDir, 'storm') }, attack);
  return SCENARIOS[command](stage, attack);
}
