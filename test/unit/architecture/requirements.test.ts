import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { REQUIREMENTS } from '../../requirements.ts';

const TESTS = fileURLToPath(new URL('../../', import.meta.url));

const cited = new Set(
  readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) => readFileSync(join(TESTS, file), 'utf8').match(/\bMCP-\d+\b/g) ?? []),
);

describe('the requirements of the MCP client', () => {
  test('that are kept or changed are each cited by a test', () => {
    const uncited = Object.entries(REQUIREMENTS).filter(([id, { status }]) => status !== 'not ours' && !cited.has(id));
    expect(uncited.map(([id, { text }]) => `${id} ${text}`)).toEqual([]);
  });

  test('are all there are: no test cites another one', () => {
    expect([...cited].filter((id) => !Object.hasOwn(REQUIREMENTS, id))).toEqual([]);
  });

  test('that are changed say which page has the other behaviour', () => {
    const entries = Object.entries(REQUIREMENTS);
    expect(entries.filter(([, { status, page }]) => (status === 'changed') !== (page !== undefined))).toEqual([]);
  });
});
