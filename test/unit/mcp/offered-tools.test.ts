import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../../src/worker/mcp/catalog/catalog.ts';
import { offeredTools } from '../../../src/worker/mcp/catalog/offered-tools.ts';

const catalog = (names: readonly string[]): Catalog => ({
  server: 's',
  info: {},
  skipped: [],
  tools: names.map((name) => ({
    mcpName: name,
    exposedName: 'stale',
    description: '',
    parameters: { type: 'object' },
  })),
});
const offer = (
  names: readonly string[],
  include: readonly string[],
  exclude: readonly string[] = [],
  toolPrefix = '',
) => offeredTools(catalog(names), { tools: { include, exclude }, toolPrefix });

describe('the tools that a configuration leaves', () => {
  it('are those that are included and not excluded, in order, under names of the prefix', () => {
    const { tools, hidden } = offer(['read.a', 'write', 'read.b'], ['read.*', 'write'], ['*.b'], 'x_');
    expect(tools.map(({ mcpName, exposedName }) => [mcpName, exposedName])).toEqual([
      ['read.a', 'x_read_a'],
      ['write', 'x_write'],
    ]);
    expect(hidden).toBe(1);
  });

  it.each([
    ['*', 'anything', true],
    ['', '', true],
    ['', 'a', false],
    ['a', 'a', true],
    ['a', 'A', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['*.read', 'fs.read', true],
    ['*a*b*', 'xxaxxbxx', true],
    ['*a*b', 'xxaxxbxx', false],
    ['a.c', 'abc', false],
    ['[a]', 'a', false],
    ['a**', 'a', true],
  ])('%j fits %j: %s', (pattern, name, fits) => {
    expect(offer([name], [pattern]).tools).toHaveLength(fits ? 1 : 0);
  });

  it('are found in a moment, whatever the pattern', () => {
    const startedAt = performance.now();
    expect(offer(['a'.repeat(5000)], [`${'*a'.repeat(500)}b`]).tools).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  it('tell patterns that fit nothing', () => {
    expect(offer(['a'], ['*', 'b*'], ['c']).idlePatterns).toEqual(['b*', 'c']);
  });
});
