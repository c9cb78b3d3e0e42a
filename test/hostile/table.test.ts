import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Arena } from './arena.ts';
import { CASES } from './cases.ts';
import { outcomeOf } from './effects.ts';
import { outcomeTable } from './outcome-table.ts';

/** Longer than any limit of a tier, and short of the call's own 15 s. */
const SETTLED_MS = 14_500;
/** Most are under 100 ms; a fork of a large process stops everything for 300. */
const LOOP_DELAY_MS = 1000;
const TEXT_SHOWN = 2000;

describe.each(['trusted', 'sandboxed'] as const)('an extension that is %s and', (tier) => {
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
    expect(shown, JSON.stringify(shown)).toMatchObject({ outcome: hostile[tier] });
    if (tier === 'sandboxed' && hostile.reaches !== undefined) expect(text).toContain(hostile.reaches);
    if (hostile[tier] === 'documented-escape') return;
    expect(effects).toMatchObject({ beside: 'fine', again: '"fine"', processesLeft: 0 });
    if (hostile[tier] === 'contained') expect(effects.isError).toBe(hostile.throws?.includes(tier) ?? false);
    expect(effects.bytes).toBeLessThan(70 * 1024);
    expect(effects.ms).toBeLessThan(tier === 'sandboxed' ? SETTLED_MS : 16_000);
    expect(effects.gapMs).toBeLessThan(LOOP_DELAY_MS);
    expect(effects.rssMb).toBeLessThan(2000);
  });
});

test('docs/security.md has the table of this run', () => {
  const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
  // The formatter pads the cells of a page.
  const bare = (text: string): string => text.replace(/ *\| */g, '|').replace(/-+/g, '-');
  expect(bare(page)).toContain(bare(outcomeTable()));
});
