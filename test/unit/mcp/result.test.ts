import { describe, expect, it } from 'vitest';
import { decodedBytes } from '../../../src/worker/mcp/result/content-blocks.ts';
import { mapResult } from '../../../src/worker/mcp/result/map-result.ts';
import { OutputCheck } from '../../../src/worker/mcp/result/output-check.ts';

const call = { server: 'demo', tool: 'shoot', epoch: 'x-1' };
const map = (raw: unknown) => mapResult(structuredClone(raw), call);
const mapBlocks = (...content: unknown[]) => map({ content }).content;
const text = (value: string) => ({ type: 'text', text: value });
const image = { type: 'image', data: 'iVBORw0KGgo=\n', mimeType: 'IMAGE/PNG; x=y' };

describe('the result of an MCP call', () => {
  // MCP-60
  it('names server, tool and process', () => {
    expect(map({ content: [text('hi')] })).toEqual({
      content: [text('hi')],
      isError: false,
      details: { server: 'demo', tool: 'shoot', outcome: 'done', epoch: 'x-1' },
    });
  });

  // MCP-55
  it('joins adjacent text by newlines and keeps the order of blocks', () => {
    expect(mapBlocks(text('a'), text('b\n'), image, text(''), text('c'), image, image)).toEqual([
      text('a\nb\n'),
      image,
      text('\nc'),
      image,
      image,
    ]);
  });

  it('drops what hangs on a text block', () => {
    expect(mapBlocks({ ...text('for user'), annotations: { audience: ['user'] }, _meta: {} })).toEqual([
      text('for user'),
    ]);
  });

  // MCP-56
  it('passes an image on as it came, with an empty type when none is declared', () => {
    expect(mapBlocks(image)).toEqual([image]);
    for (const mimeType of [undefined, null, 7]) {
      expect(mapBlocks({ type: 'image', data: 'AAAA', mimeType })).toEqual([
        { type: 'image', data: 'AAAA', mimeType: '' },
      ]);
    }
  });

  // MCP-57
  it.each([
    [{ type: 'audio', data: 'UklGRiQAAABXQVZF', mimeType: 'audio/wav' }, '[audio omitted: audio/wav, 12 bytes]'],
    [{ type: 'audio', data: '' }, '[audio omitted: unknown type, 0 bytes]'],
    [
      { type: 'resource', resource: { uri: 'file:///n.txt', text: 'line 1\nline 2' } },
      'Resource file:///n.txt:\nline 1\nline 2',
    ],
    [{ type: 'resource', resource: { uri: 'file:///n.txt', text: '' } }, 'Resource file:///n.txt:\n'],
    [{ type: 'resource', resource: { text: 'x' } }, 'Resource without a URI:\nx'],
    [{ type: 'resource', resource: { uri: 'a:b', blob: 'AAAA' } }, '[resource a:b: unknown type, 3 bytes omitted]'],
    [
      { type: 'resource', resource: { uri: 'a:b', blob: 'AAA=', mimeType: 'image/png' } },
      '[resource a:b: image/png, 2 bytes omitted]',
    ],
    [{ type: 'resource', resource: { uri: 'a:b' } }, '[resource content omitted]'],
    [{ type: 'resource', resource: null }, '[resource content omitted]'],
    [
      { type: 'resource_link', uri: 'https://x.invalid/a', name: 'report' },
      'Resource link: https://x.invalid/a (report)',
    ],
    [{ type: 'resource_link', uri: 'https://x.invalid/a' }, 'Resource link: https://x.invalid/a'],
    [{ type: 'resource_link', name: 'report' }, '[resource_link content omitted]'],
    [{ type: 'video', data: 'x' }, '[video content omitted]'],
    [{ type: 'a\u001b[31m\nb' }, '[a\\u{1b}[31m\\u{a}b content omitted]'],
    [{ type: 'text' }, '[text content omitted]'],
    [{ type: 'text', text: 7 }, '[text content omitted]'],
    [{ type: 'image' }, '[image content omitted]'],
    [{ type: 'audio', data: null }, '[audio content omitted]'],
    [{ type: 7 }, '[malformed content omitted]'],
    [{ type: '' }, '[malformed content omitted]'],
    [{}, '[malformed content omitted]'],
    [null, '[malformed content omitted]'],
    ['bare', '[malformed content omitted]'],
    [[text('x')], '[malformed content omitted]'],
  ])('says %j as a text, and keeps its neighbours', (block, said) => {
    expect(mapBlocks(text('before'), block, text('after'))).toEqual([text(`before\n${said}\nafter`)]);
  });

  it.each([
    [{ content: [] }],
    [{}],
    [{ content: null }],
    [{ content: [text('')] }],
    [{ content: [text(' \n'), text('\t')] }],
    [{ structuredContent: null }],
  ])('says (no output) for %j', (raw) => {
    const { content, ...rest } = map(raw);
    expect(content).toEqual([text('(no output)')]);
    expect(rest).not.toHaveProperty('structuredContent');
  });

  it.each([[{ content: [] }], [{}], [{ content: [text('  \n')] }], [{ content: null }]])(
    'shows the structure as text when there is nothing else (%j)',
    (raw) => {
      const structuredContent = { answer: 42, list: [null] };
      expect(map({ ...raw, structuredContent })).toMatchObject({
        content: [text('{"answer":42,"list":[null]}')],
        isError: false,
        structuredContent,
      });
    },
  );

  // MCP-58
  it('lets content win over the structure and keeps both', () => {
    expect(map({ content: [text('summary')], structuredContent: { a: 1 } })).toMatchObject({
      content: [text('summary')],
      structuredContent: { a: 1 },
    });
    expect(map({ content: [image], structuredContent: { a: 1 } }).content).toEqual([image]);
  });

  it('survives a structure that is nested too deeply to be written', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(mapResult({ structuredContent: { deep } }, call).content).toEqual([
      text('[structured content omitted: it is nested too deeply]'),
    ]);
  });

  // MCP-59
  it("keeps the server's content in an error, images included", () => {
    expect(map({ isError: true, content: [text('first'), image, text('second')] })).toMatchObject({
      isError: true,
      content: [text('first'), image, text('second')],
      details: { outcome: 'done' },
    });
    expect(map({ isError: true, content: [] })).toMatchObject({ isError: true, content: [text('(no output)')] });
    expect(map({ isError: true, structuredContent: { code: 5 } })).toMatchObject({
      isError: true,
      content: [text('{"code":5}')],
    });
  });

  it.each([['true'], [1], [{}], [null], [false]])('does not take isError %j for an error', (isError) => {
    expect(map({ isError, content: [text('Error: a legal text')] })).toMatchObject({
      isError: false,
      content: [text('Error: a legal text')],
    });
  });

  it('keeps what stands where a list of blocks belongs', () => {
    expect(map({ content: 'plain' }).content).toEqual([text('plain')]);
    expect(map({ content: text('lone') }).content).toEqual([text('lone')]);
    expect(map({ content: 7 }).content).toEqual([text('[malformed content omitted]')]);
  });

  it.each([[null], ['x'], [7], [[]], [undefined]])('is an error when the answer is %j', (raw) => {
    expect(map(raw)).toMatchObject({ isError: true, details: { error: { code: 'PROTOCOL' }, outcome: 'done' } });
  });

  it('does not cut: the caps are applied behind it', () => {
    const [block] = mapBlocks(...Array.from({ length: 5000 }, (_, i) => text(`b${i}`)));
    expect(block?.type === 'text' && block.text.split('\n')).toHaveLength(5000);
  });
});

describe('the size of base64', () => {
  it.each([
    ['', 0],
    ['AA==', 1],
    ['AA', 1],
    ['AAA=', 2],
    ['AAAA', 3],
    ['AA\nAA\r\n', 3],
    ['-_+/', 3],
    ['data:audio/wav;base64,AAAA', 3],
  ])('of %j is %i bytes', (base64, bytes) => {
    expect(decodedBytes(base64)).toBe(bytes);
  });
});

describe('the check against an output schema', () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'number' } },
    required: ['n'],
    additionalProperties: false,
  };
  const checked = (raw: unknown, outputSchema: object = schema) =>
    mapResult(structuredClone(raw), { ...call, outputCheck: new OutputCheck(structuredClone(outputSchema) as never) });
  const warnings = (raw: unknown, outputSchema?: object) => checked(raw, outputSchema).details?.['warnings'];

  it('is silent about an answer that fits', () => {
    expect(checked({ content: [text('{"n":1}')], structuredContent: { n: 1 } }).details).not.toHaveProperty('warnings');
  });

  it('warns about one that does not, and changes nothing else', () => {
    const raw = { content: [text('useful')], structuredContent: { n: 'x' } };
    const result = checked(raw);
    expect(result).toMatchObject({ isError: false, content: [text('useful')], structuredContent: { n: 'x' } });
    expect(result.details?.['warnings']).toEqual([
      'the structured content does not match the output schema of the tool: /n must be number',
    ]);
    expect(warnings({ content: [text('x')], structuredContent: { n: 1, extra: 1 } })).toEqual([
      expect.stringMatching(/schema.*additional/),
    ]);
    expect(warnings({ content: [text('useful')] })).toEqual([expect.stringMatching(/lacks.*schema/)]);
  });

  it('says nothing about an error', () => {
    expect(warnings({ isError: true, content: [text('rejected')], structuredContent: { code: -5 } })).toBeUndefined();
    expect(warnings({ isError: true, content: [] })).toBeUndefined();
  });

  it.each([
    ['a remote reference', { $ref: 'https://example.invalid/schema.json' }],
    ['a missing definition', { properties: { n: { $ref: '#/$defs/none' } } }],
    ['an unknown type', { type: 'banana' }],
    ['a broken pattern', { properties: { n: { type: 'string', pattern: '(' } } }],
    ['a schema that answers later', { $async: true, type: 'object' }],
    ['an old keyword form', { properties: { n: { type: 'number', exclusiveMinimum: true } } }],
  ])('is left out for %s', (_, outputSchema) => {
    expect(warnings({ content: [text('x')], structuredContent: { n: 'x' } }, outputSchema)).toBeUndefined();
  });

  it('understands another dialect, local references and unknown keywords and formats', () => {
    const draft7 = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'https://example.invalid/output',
      definitions: { n: { type: 'number', format: 'no-such-format', 'x-note': 1 } },
      properties: { n: { $ref: '#/definitions/n' } },
    };
    expect(warnings({ content: [text('x')], structuredContent: { n: 'x' } }, draft7)).toHaveLength(1);
    expect(warnings({ content: [text('x')], structuredContent: { n: 1 } }, draft7)).toBeUndefined();
  });

  it('gives up a pattern that would take for ever, and does not try it again', () => {
    const check = new OutputCheck({ properties: { s: { type: 'string', pattern: '^(a+)+$' } } });
    const slow = { s: `${'a'.repeat(40)}b` };
    const before = performance.now();
    expect(check.mismatch(slow)).toBeUndefined();
    const first = performance.now() - before;
    expect(first).toBeLessThan(5000);
    const again = performance.now();
    expect(check.mismatch(slow)).toBeUndefined();
    expect(performance.now() - again).toBeLessThan(first);
  });

  it('bounds what it says', () => {
    const key = 'k'.repeat(5000);
    const [warning] = warnings(
      { content: [text('x')], structuredContent: { [key]: 'x' } },
      { properties: { [key]: { type: 'number' } } },
    ) as string[];
    expect(warning?.length).toBeLessThan(500);
  });
});
