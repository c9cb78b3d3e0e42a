import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Tier } from '../../src/shared/sandbox.ts';
import { Arena } from './arena.ts';
import { CASES } from './cases.ts';
import { outcomeOf } from './effects.ts';

/** Longer than any limit of a tier, and short of the call's own 15 s. */
const SETTLED_MS = 14_500;
/** Most are under 100 ms; a fork of a large process stops everything for 300. */
const LOOP_DELAY_MS = 1000;
const TEXT_SHOWN = 2000;

/** Every attack in one tier. Each tier is a file, so that both run at once. */
export function testAttacks(tier: Tier): void {
  let arena: Arena;

  beforeAll(async () => {
    arena = await Arena.open();
  });
  afterAll(async () => {
    await arena.close();
  });

  const titled = CASES.map((hostile) => [`${hostile.group}: ${hostile.name} → ${hostile[tier]}`, hostile] as const);

  test.each(titled)('%s', { timeout: 60_000 }, async (_title, hostile) => {
    const { text, ...effects } = await arena.run(hostile, tier);
    const shown = { outcome: outcomeOf(effects), effects, text: text.slice(0, TEXT_SHOWN) };
    const seen = JSON.stringify(shown);
    expect(shown, seen).toMatchObject({ outcome: hostile[tier] });
    if (tier === 'sandboxed' && hostile.reaches !== undefined) expect(text).toContain(hostile.reaches);
    if (tier === 'sandboxed') for (const said of hostile.misses ?? []) expect(text).not.toContain(said);
    if (hostile[tier] === 'documented-escape') return;
    expect(effects, seen).toMatchObject({ beside: 'fine', again: '"fine"', processesLeft: 0 });
    if (hostile[tier] === 'contained') expect(effects.isError).toBe(hostile.throws?.includes(tier) ?? false);
    expect(effects.bytes).toBeLessThan(70 * 1024);
    expect(effects.ms).toBeLessThan(tier === 'sandboxed' ? SETTLED_MS : 16_000);
    expect(effects.gapMs).toBeLessThan(LOOP_DELAY_MS);
    expect(effects.rssMb).toBeLessThan(2000);
  });
}
