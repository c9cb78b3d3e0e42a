import { describe, expect, test, vi } from 'vitest';
import { ToolTableStore } from '../../../src/host/thread/tool-table-store.ts';
import type { ToolTable } from '../../../src/shared/protocol.ts';

const wire = (name: string): ToolTable => [
  {
    name,
    description: `The secret of ${name}`,
    parameters: { type: 'object', properties: { text: { type: 'string' } } },
    executionMode: 'parallel',
    source: { server: 'demo', tool: name },
  },
];

const redact = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll('secret', '[REDACTED]'));

describe('the tool tables of an extension', () => {
  test('are described, redacted and frozen once for every session that has the same digest', () => {
    const counted = vi.fn(redact);
    const store = new ToolTableStore('mcp', counted);
    expect(store.acquire('a')).toBeUndefined();
    const table = store.add('a', wire('echo'));
    expect(table).toEqual([
      {
        name: 'echo',
        description: 'The [REDACTED] of echo',
        parameters: { type: 'object', properties: { text: { type: 'string' } } },
        executionMode: 'parallel',
        source: { kind: 'extension', extension: 'mcp', server: 'demo', tool: 'echo' },
      },
    ]);
    expect(store.acquire('a')).toBe(table);
    expect(store.add('a', wire('echo'))).toBe(table);
    expect(counted).toHaveBeenCalledTimes(1);
    expect(Object.isFrozen(table[0]?.parameters['properties'])).toBe(true);
    expect(() => Object.assign(table[0] ?? {}, { name: 'other' })).toThrow(TypeError);
  });

  test('stay while a session uses them, and a few that nobody uses stay for the next one', () => {
    const store = new ToolTableStore('mcp', (value) => value);
    const used = store.add('used', wire('used'));
    for (let i = 0; i < 20; i++) {
      store.add(`old ${i}`, wire('old'));
      store.release(`old ${i}`);
    }
    expect(store.acquire('used')).toBe(used);
    expect(store.acquire('old 0')).toBeUndefined();
    expect(store.acquire('old 19')).toBeDefined();
  });

  test('go only when the last of their users has let go', () => {
    const store = new ToolTableStore('mcp', (value) => value);
    const table = store.add('shared', wire('shared'));
    store.acquire('shared');
    store.release('shared');
    for (let i = 0; i < 20; i++) {
      store.add(`other ${i}`, wire('other'));
      store.release(`other ${i}`);
    }
    expect(store.acquire('shared')).toBe(table);
    store.release('not there');
  });
});
