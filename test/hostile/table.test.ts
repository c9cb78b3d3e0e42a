import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Arena, outcomeOf } from './arena.ts';
import { CASES } from './cases.ts';
import { outcomeTable } from './outcome-table.ts';

/** Longer than any limit of a tier, and short of the call's own 15 s. */
const SETTLED_MS = 14_500;

describe.each(['trusted', 'sandboxed'] as const)('an extension that is %s and', (tier) => {
  let arena: Arena;

  beforeAll(async () => {
    arena = await Arena.open();
  });
  afterAll(async () => {
    await arena.close();
  });

  test.each(CASES)(`$group: $name → $${tier}`, { timeout: 60_000 }, async (hostile) => {
    const effects = await arena.run(hostile, tier);
    expect({ outcome: outcomeOf(effects), effects }).toMatchObject({ outcome: hostile[tier] });
    if (hostile[tier] === 'documented-escape') return;
    expect(effects).toMatchObject({ beside: 'fine', again: '"fine"', processesLeft: 0 });
    expect(effects.bytes).toBeLessThan(70 * 1024);
    expect(effects.ms).toBeLessThan(tier === 'sandboxed' ? SETTLED_MS : 16_000);
    expect(effects.rssMb).toBeLessThan(2000);
  });
});

test('docs/security.md has the table of this run', () => {
  const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
  // The formatter pads the cells of a page.
  const bare = (text: string): string => text.replace(/ *\| */g, '|').replace(/-+/g, '-');
  expect(bare(page)).toContain(bare(outcomeTable()));
});
