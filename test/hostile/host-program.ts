/**
 * The host under attack, a process of its own: it may die of an attack. Reads one JSON command a line and answers each. It also
 * looks at its own main thread: prototypes, event loop.
 */
import { createInterface } from 'node:readline';
import { ExtensionHost, type Session } from '../../src/host/index.ts';

const [, , agentDir = '', cwd = '', neighbour = ''] = process.argv;
const host = new ExtensionHost({
  agentDir,
  extensions: [neighbour],
  limits: { restartBackoffMs: [0], crashLoopDeaths: 100 },
});
const watched = [
  Object.prototype,
  Function.prototype,
  Array.prototype,
  Promise.prototype,
  Error.prototype,
  JSON,
  Object,
  Reflect,
];
const keysOf = () => JSON.stringify([...watched, globalThis].map((one) => Reflect.ownKeys(one).map(String).sort()));

let maxGapMs = 0;
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  maxGapMs = Math.max(maxGapMs, now - last - 5);
  last = now;
}, 5).unref();

let session: Session | undefined;
let count = 0;

const commands: Readonly<Record<string, (args: { path: string; tier: 'trusted' | 'sandboxed' }) => Promise<object>>> = {
  async attack({ path, tier }) {
    await host.start();
    const id = await host.load({ path, tier });
    count += 1;
    session = await host.openSession({ id: `s${count}`, cwd });
    const keys = keysOf();
    const opened = session.failures;
    await session.callTool({ name: 'neighbour_echo', arguments: { text: 'warm' } });
    maxGapMs = 0;
    last = performance.now();
    const from = performance.now();
    const result = await session.callTool({ name: `attack_${id}` }, { timeoutMs: 15_000 });
    const ms = performance.now() - from;
    const beside = await session.callTool({ name: 'neighbour_echo', arguments: { text: 'fine' } });
    const gapMs = maxGapMs;
    const again = await session.callTool({ name: `ok_${id}` }, { timeoutMs: 15_000 });
    const bytes = JSON.stringify(result).length;
    const answer = {
      opened,
      ms,
      gapMs,
      bytes,
      text: JSON.stringify(result).slice(0, 200_000),
      isError: result.isError,
      code: result.details?.error?.code,
      beside: beside.isError ? 'error' : 'fine',
      again: again.isError ? JSON.stringify(again).slice(0, 500) : 'fine',
      isClean: keysOf() === keys && !('polluted' in {}),
      rssMb: process.memoryUsage().rss / 2 ** 20,
    };
    await session.close();
    return answer;
  },
  async close() {
    await host.close();
    return {};
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...args } = JSON.parse(line) as { command: string; path: string; tier: 'trusted' | 'sandboxed' };
  const answer = await commands[command]?.(args).catch((error: unknown) => ({ failed: String(error) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
  if (command === 'close') process.exit(0);
}
