import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, type Limits } from '../../../src/shared/limits.ts';
import { catalogDifference, differenceText } from '../../../src/worker/mcp/catalog/catalog-difference.ts';
import { listTools } from '../../../src/worker/mcp/catalog/list-tools.ts';
import type { ClientPort } from '../../../src/worker/mcp/connection/client/client-port.ts';

type Page = { readonly tools: readonly unknown[]; readonly nextCursor?: unknown };

/** A server's pages by cursor; the first one is under ''. It counts how often it was asked. */
function serverOf(pages: Readonly<Record<string, Page>>): Pick<ClientPort, 'listTools'> & { asked: number } {
  return {
    asked: 0,
    async listTools(cursor) {
      this.asked += 1;
      const page = pages[cursor ?? ''];
      if (!page) throw new Error(`Invalid cursor ${cursor}`);
      return structuredClone(page) as Awaited<ReturnType<ClientPort['listTools']>>;
    },
  };
}

const options = { server: 'demo', toolPrefix: '', limits: DEFAULT_LIMITS };
const list = (pages: Readonly<Record<string, Page>>, more: { toolPrefix?: string; limits?: Limits } = {}) =>
  listTools(serverOf(pages), {}, { ...options, ...more });
const listOne = async (tool: unknown) => (await list({ '': { tools: [tool] } })).tools[0];
const named = (name: string) => ({ name, inputSchema: { type: 'object' } });

describe('listing the tools of a server', () => {
  // MCP-34
  it('reads all pages in order', async () => {
    const catalog = await list({
      '': { tools: [named('a1'), named('a2')], nextCursor: 'B' },
      B: { tools: [named('b1')], nextCursor: 'C' },
      C: { tools: [named('c1')] },
    });
    expect(catalog.tools.map((tool) => tool.mcpName)).toEqual(['a1', 'a2', 'b1', 'c1']);
    expect(catalog.skipped).toEqual([]);
  });

  it.each([[''], [null], [undefined], [7]])('takes the cursor %j for the end', async (nextCursor) => {
    const server = serverOf({ '': { tools: [named('one')], nextCursor } });
    expect((await listTools(server, {}, options)).tools).toHaveLength(1);
    expect(server.asked).toBe(1);
  });

  it('has an empty catalogue for a server that announced no tools', async () => {
    const catalog = await listTools({ listTools: async () => undefined }, { name: 'x', protocolVersion: 'v' }, options);
    expect(catalog).toEqual({ server: 'demo', info: { name: 'x' }, protocolVersion: 'v', tools: [], skipped: [] });
  });

  it('stops at a cursor that comes twice, and says so', async () => {
    const server = serverOf({
      '': { tools: [named('a')], nextCursor: 'B' },
      B: { tools: [named('b')], nextCursor: 'B' },
    });
    const catalog = await listTools(server, {}, options);
    expect(catalog.tools.map((tool) => tool.mcpName)).toEqual(['a', 'b']);
    expect(catalog.skipped).toEqual([{ name: '', reason: expect.stringContaining('cursor came twice') }]);
    expect(server.asked).toBe(2);
  });

  it('stops after 100 pages, and says so', async () => {
    let asked = 0;
    const endless: Pick<ClientPort, 'listTools'> = {
      listTools: async () => ({ tools: [named(`t${++asked}`)], nextCursor: `page ${asked}` }),
    };
    const catalog = await listTools(endless, {}, options);
    expect(asked).toBe(100);
    expect(catalog.tools).toHaveLength(100);
    expect(catalog.skipped).toEqual([{ name: '', reason: expect.stringContaining('100 pages') }]);
  });

  it('stops after 2000 tools, and says so', async () => {
    const many = Array.from({ length: 2001 }, (_, i) => named(`t${i}`));
    const server = serverOf({ '': { tools: many, nextCursor: 'B' }, B: { tools: [] } });
    const catalog = await listTools(server, {}, options);
    expect(catalog.tools).toHaveLength(2000);
    expect(catalog.skipped).toEqual([{ name: '', reason: expect.stringContaining('2000 tools') }]);
    expect(server.asked).toBe(1);
    expect((await list({ '': { tools: many.slice(1) } })).skipped).toEqual([]);
  });

  it('passes a failed page on', async () => {
    await expect(list({ '': { tools: [], nextCursor: 'gone' } })).rejects.toThrow('Invalid cursor gone');
  });

  it('leaves out an entry that is no tool, with a reason, and keeps the others', async () => {
    const bad = [null, 'x', 7, [], {}, { name: 7 }, { name: null }];
    const catalog = await list({ '': { tools: [named('a'), ...bad, named('b')] } });
    expect(catalog.tools.map((tool) => tool.mcpName)).toEqual(['a', 'b']);
    expect(catalog.skipped).toHaveLength(bad.length);
    for (const { name, reason } of catalog.skipped) {
      expect(name).toBe('');
      expect(reason).toMatch(/no object|no name/);
    }
  });

  it('names a hundred entries it left out and counts the rest', async () => {
    const catalog = await list({ '': { tools: Array.from({ length: 5000 }, () => 'junk') } });
    expect(catalog.skipped).toHaveLength(101);
    expect(catalog.skipped.at(-1)?.reason).toBe('4900 more entries could not be used');
  });

  it('keeps the first of two tools with one name', async () => {
    const catalog = await list({
      '': { tools: [{ ...named('dup'), description: 'first' }, named('b'), named('dup')] },
    });
    expect(catalog.tools.map((tool) => [tool.exposedName, tool.description])).toEqual([
      ['dup', 'first'],
      ['b', 'b'],
    ]);
    expect(catalog.skipped).toEqual([{ name: 'dup', reason: expect.stringContaining('twice') }]);
  });

  it('gives every tool a name of its own, with the prefix, across pages', async () => {
    const catalog = await list(
      { '': { tools: [named('a.b'), named('')], nextCursor: 'B' }, B: { tools: [named('a_b')] } },
      { toolPrefix: 'p_' },
    );
    expect(catalog.tools.map((tool) => [tool.mcpName, tool.exposedName])).toEqual([
      ['a.b', 'p_a_b'],
      ['', 'p_'],
      ['a_b', 'p_a_b_2'],
    ]);
  });

  it('leaves out a tool that is too large or nested too deeply, and what no longer fits', async () => {
    let deep: unknown = { type: 'string' };
    for (let i = 0; i < 100; i++) deep = { anyOf: [deep] };
    const large = { type: 'object', description: 'x'.repeat(300_000) };
    const catalog = await list({
      '': {
        tools: [
          { name: 'deep', inputSchema: { type: 'object', properties: { a: deep } } },
          { name: 'large', inputSchema: large },
          named('ok'),
        ],
      },
    });
    expect(catalog.tools.map((tool) => tool.mcpName)).toEqual(['ok']);
    expect(catalog.skipped.map(({ name }) => name)).toEqual(['deep', 'large']);
    expect(catalog.skipped[0]?.reason).toMatch(/nested/);
    expect(catalog.skipped[1]?.reason).toMatch(/larger than 262144 bytes/);

    const small: Limits = { ...DEFAULT_LIMITS, toolTableBytes: 150 };
    const full = await list({ '': { tools: [named('a'), named('b'), named('c')] } }, { limits: small });
    expect(full.tools.map((tool) => tool.mcpName)).toEqual(['a', 'b']);
    expect(full.skipped).toEqual([{ name: 'c', reason: expect.stringContaining('150 bytes') }]);
  });

  it("makes a catalogue that survives the host's cache", async () => {
    const page = {
      tools: [{ ...named('a'), description: 'd', outputSchema: { type: 'object' }, annotations: { title: 'T' } }],
    };
    const catalog = await list({ '': page });
    expect(structuredClone(catalog)).toEqual(catalog);
    expect(JSON.parse(JSON.stringify(catalog))).toEqual(catalog);
  });
});

describe('a listed tool', () => {
  it('keeps its description, else its title, else its name', async () => {
    const description = async (tool: object) => (await listOne({ name: 'n', ...tool }))?.description;
    expect(await description({ description: ' d\n', annotations: { title: 't' } })).toBe(' d\n');
    for (const bad of [undefined, null, 7, '', ' \n']) {
      expect(await description({ description: bad, annotations: { title: 't' } })).toBe('t');
      expect(await description({ description: bad, annotations: { title: bad } })).toBe('n');
    }
  });

  it('keeps its schema as it is, but for a top-level $schema', async () => {
    const schema = JSON.parse(
      '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"__proto__":{"type":"string"},"$schema":{"type":"string"}},"anyOf":[{"required":["__proto__"]}],"$defs":{"x":{"$schema":"y"}},"__proto__":{"odd":1}}',
    );
    const tool = await listOne({ name: 'a', inputSchema: schema });
    expect(JSON.stringify(tool?.parameters)).toBe(
      JSON.stringify(schema).replace('"$schema":"http://json-schema.org/draft-07/schema#",', ''),
    );
    expect(Object.hasOwn(tool?.parameters ?? {}, '__proto__')).toBe(true);
  });

  it.each([
    [undefined],
    [null],
    ['x'],
    [7],
    [[]],
    [true],
    [{ type: 'string' }],
    [{ type: ['string', 'null'] }],
    [{ type: 7 }],
  ])('takes any arguments when its schema is %j', async (inputSchema) => {
    expect((await listOne({ name: 'a', inputSchema }))?.parameters).toEqual({ type: 'object' });
  });

  it('is told to take an object when its schema does not say so plainly', async () => {
    const properties = { a: { type: 'string' } };
    expect((await listOne({ name: 'a', inputSchema: {} }))?.parameters).toEqual({ type: 'object' });
    expect((await listOne({ name: 'a', inputSchema: { properties } }))?.parameters).toEqual({
      type: 'object',
      properties,
    });
    const nullable = { type: ['object', 'null'], properties };
    expect((await listOne({ name: 'a', inputSchema: nullable }))?.parameters).toEqual({ type: 'object', properties });
  });

  it('loses a bad output schema or hint and nothing else', async () => {
    for (const outputSchema of [null, 'x', 7, []]) {
      expect(await listOne({ ...named('a'), outputSchema })).not.toHaveProperty('outputSchema');
    }
    let deep: object = {};
    for (let i = 0; i < 100; i++) deep = { not: deep };
    expect(await listOne({ ...named('a'), outputSchema: deep })).not.toHaveProperty('outputSchema');
    const annotations = { title: 7, readOnlyHint: 'yes', destructiveHint: false, extra: 1 };
    expect((await listOne({ ...named('a'), annotations }))?.annotations).toEqual({ destructiveHint: false });
    for (const bad of [null, 'x', [], {}])
      expect(await listOne({ ...named('a'), annotations: bad })).not.toHaveProperty('annotations');
    expect((await listOne({ ...named('a'), outputSchema: { type: 'object' } }))?.outputSchema).toEqual({
      type: 'object',
    });
  });
});

describe('a live list beside the catalogue', () => {
  it('does not differ when only the order does', async () => {
    const a = await list({ '': { tools: [named('a'), named('b')] } });
    expect(catalogDifference(a, await list({ '': { tools: [named('b'), named('a')] } }))).toBeUndefined();
  });

  it('names what was added, removed and changed', async () => {
    const before = await list({ '': { tools: [named('old'), named('keep'), named('same'), named('__proto__')] } });
    const now = await list({
      '': { tools: [named('same'), { ...named('keep'), description: 'other' }, named('new\n')] },
    });
    const difference = catalogDifference(before, now);
    expect(difference).toEqual({ added: ['new\n'], removed: ['old', '__proto__'], changed: ['keep'] });
    expect(difference && differenceText(difference)).toBe('added new\\u{a}; removed old, __proto__; changed keep');
  });

  it('names twenty of many', async () => {
    const many = await list({ '': { tools: Array.from({ length: 25 }, (_, i) => named(`t${i}`)) } });
    const difference = catalogDifference(many, await list({ '': { tools: [] } }));
    expect(difference && differenceText(difference)).toMatch(/^removed t0, t1, .*, t19 and 5 more$/);
  });
});
