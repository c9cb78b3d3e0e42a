import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Session } from '../../src/host/index.ts';
import { makeDropInHost, toolOf } from '../support/drop-ins.ts';
import { openSession } from '../support/extension-fixtures.ts';

const NEIGHBOUR = fileURLToPath(new URL('../fixtures/hostile/neighbour.mjs', import.meta.url));
const GOOD_SESSIONS = 100;
/** The first two count for nothing: there code is compiled and caches are filled. */
const WINDOWS = 10;
const WARM_UP = 2;
const WINDOW_MS = 2000;
/** Calls enough for a steady p99, and a calm half that stays below a quarter of the CPU. */
const THINK_MS = 50;

const hostile = (name: string, body: string) => ({ name, source: toolOf(body).replace("'run'", `'${name}'`) });

test('100 good sessions keep their p99 under twice the calm one while one extension loops, one floods and one leaks', {
  timeout: 120_000,
}, async () => {
  const { host } = await makeDropInHost(
    [
      hostile('loops', 'for (;;);'),
      hostile('floods', 'for (;;) api.logger.warn("F".repeat(2000));'),
      hostile('leaks', 'const all = []; for (;;) all.push(new Array(1000).fill(all.length));'),
    ],
    { extensions: [NEIGHBOUR] },
  );
  const attacker = await openSession(host);
  const good: Session[] = [];
  for (let i = 0; i < GOOD_SESSIONS; i++) good.push(await openSession(host));

  let isHostile = false;
  let isWarm = false;
  let ended = false;
  const latencies: Record<'calm' | 'hostile', number[]> = { calm: [], hostile: [] };
  const chats = good.map(async (session, i) => {
    await delay((THINK_MS * i) / GOOD_SESSIONS);
    while (!ended) {
      const half = isHostile ? 'hostile' : 'calm';
      const counts = isWarm;
      const from = performance.now();
      const result = await session.callTool({ name: 'neighbour_echo', arguments: { text: 'x' } });
      expect(result.isError).toBe(false);
      if (counts) latencies[half].push(performance.now() - from);
      await delay(THINK_MS);
    }
  });
  const attack = async (name: string): Promise<void> => {
    while (isHostile) await attacker.callTool({ name });
  };

  let calmCpuMs = 0;
  let calmMs = 0;
  for (let window = 0; window < WINDOWS; window++) {
    isHostile = window % 2 === 1;
    isWarm = window >= WARM_UP;
    const [cpu, from] = [process.cpuUsage(), performance.now()];
    const attacks = isHostile ? ['loops', 'floods', 'leaks'].map(attack) : [];
    await delay(WINDOW_MS);
    if (isWarm && !isHostile) {
      const { user, system } = process.cpuUsage(cpu);
      calmCpuMs += (user + system) / 1000;
      calmMs += performance.now() - from;
    }
    isHostile = false;
    await Promise.all(attacks);
  }
  ended = true;
  await Promise.all(chats);
  const calm = percentile(latencies.calm, 0.99);
  const besieged = percentile(latencies.hostile, 0.99);
  console.log(
    `neighbours: p99 calm ${calm.toFixed(1)} ms, hostile ${besieged.toFixed(1)} ms, ratio ${(besieged / calm).toFixed(2)}, calm CPU ${((100 * calmCpuMs) / calmMs / cpus().length).toFixed(1)} %`,
  );
  expect(calmCpuMs / calmMs / cpus().length).toBeLessThan(0.25);
  expect(latencies.hostile.length).toBeGreaterThan(GOOD_SESSIONS);
  expect(besieged).toBeLessThan(2 * calm);
});

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}
