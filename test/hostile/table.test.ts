import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { outcomeTable } from './outcome-table.ts';

test('docs/security.md has the table of this run', () => {
  const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
  // The formatter pads the cells of a page.
  const bare = (text: string): string => text.replace(/ *\| */g, '|').replace(/-+/g, '-');
  expect(bare(page)).toContain(bare(outcomeTable()));
});
