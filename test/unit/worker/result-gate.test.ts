import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/shared/limits.ts';
import { gateResult } from '../../../src/worker/result/result-gate.ts';

const caps = { limits: DEFAULT_LIMITS, overlapBytes: 100 };
const gate = (returned: unknown) => structuredClone(gateResult('tool', returned, caps));
const block = (text: string) => ({ type: 'text', text });
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const png = PNG.toString('base64');

test('a string is one text block', () => {
  expect(gate('plain')).toEqual({ content: [block('plain')], isError: false, text: { lines: 1, bytes: 5 }, images: 0 });
});

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a number', 42],
  ['an array', [block('x')]],
  ['an object without a content array', { content: 'text' }],
])('%s is an error result that says so', (said, returned) => {
  const result = gate(returned);
  expect(result.isError).toBe(true);
  expect(result.content).toEqual([
    block(`Tool tool returned ${said}, which is no result: return { content: [...] } or a string.`),
  ]);
});

test('values that cannot be read are an error result, never an exception', () => {
  const proxy = new Proxy(
    {},
    {
      get: () => {
        throw new Error('no');
      },
      ownKeys: () => {
        throw new Error('no');
      },
    },
  );
  const getter = {
    get content() {
      throw new Error('a getter');
    },
  };
  for (const odd of [proxy, getter]) expect(gate(odd)).toMatchObject({ isError: true });
});

test('adjacent text is joined, order is kept, and what is none of ours is named', () => {
  const { content, images } = gate({
    content: [
      block('a'),
      null,
      { type: 'hologram' },
      { type: 'image', data: png, mimeType: 'image/png' },
      { type: 'text' },
      block('b'),
    ],
  });
  expect(content).toEqual([
    block('a\n[malformed content omitted]\n[hologram content omitted]'),
    { type: 'image', data: png, mimeType: 'image/png' },
    block('[malformed text content omitted]\nb'),
  ]);
  expect(images).toBe(1);
});

describe('text over the cap', () => {
  test('is cut at the cap and the overlap on a character, with the totals of the whole', () => {
    const whole = `a${'🚀'.repeat(20_000)}`;
    const { content, text } = gate({ content: [block(whole)] });
    const [first] = content;
    if (first?.type !== 'text') return expect.unreachable();
    expect(Buffer.byteLength(first.text)).toBeLessThanOrEqual(DEFAULT_LIMITS.textBytes + 100);
    expect(Buffer.byteLength(first.text)).toBeGreaterThan(DEFAULT_LIMITS.textBytes + 90);
    expect(whole.startsWith(first.text)).toBe(true);
    expect(first.text.isWellFormed()).toBe(true);
    expect(text).toEqual({ lines: 1, bytes: 80_001 });
  });

  test('is cut at the lines and the overlap', () => {
    const whole = Array.from({ length: 5000 }, (_, i) => `row ${i}`).join('\n');
    const { content, text } = gate({ content: [block(whole)] });
    const [first] = content;
    if (first?.type !== 'text') return expect.unreachable();
    expect(first.text.split('\n').length).toBeGreaterThan(2000);
    expect(first.text.split('\n').length).toBeLessThan(2020);
    expect(text.lines).toBe(5000);
  });

  test('goes on counting in the blocks after an image', () => {
    const { content, text } = gate({
      content: [block('x'.repeat(60_000)), { type: 'image', data: png, mimeType: 'image/png' }, block('y\ny')],
    });
    expect(content.map((one) => one.type)).toEqual(['text', 'image']);
    expect(text).toEqual({ lines: 3, bytes: 60_003 });
  });

  test('of 300,000 blocks is one block', () => {
    const { content, text } = gate({ content: Array.from({ length: 300_000 }, (_, i) => block(`b${i}`)) });
    expect(content).toHaveLength(1);
    expect(text.lines).toBe(300_000);
  });
});

describe('images', () => {
  const image = (data: unknown, mimeType?: unknown) => gate({ content: [{ type: 'image', data, mimeType }] }).content;
  const kept = [{ type: 'image', data: png, mimeType: 'image/png' }];

  test('are canonical and typed by their bytes, however they were written', () => {
    const wrapped = png.replaceAll(/(.{20})/g, '$1\n');
    const urlSafe = png.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    expect(image(wrapped, 'image/jpeg')).toEqual(kept);
    expect(image(urlSafe, 'png')).toEqual(kept);
    expect(image(`data:image/gif;base64,${png}`, 'IMAGE/GIF; charset=binary')).toEqual(kept);
    expect(image(png, undefined)).toEqual(kept);
  });

  test('that are none are named with the type they claimed and their size', () => {
    expect(image(Buffer.from('hello world').toString('base64'), 'image/png')).toEqual([
      block('[image omitted: image/png, 11 bytes]'),
    ]);
    expect(image('', 'png')).toEqual([block('[image omitted: image/png, 0 bytes]')]);
    expect(image(undefined, 'image/png')).toEqual([block('[image omitted: image/png, 0 bytes, no data]')]);
    expect(image(Buffer.from('<svg/>').toString('base64'), 'image/svg+xml')).toEqual([
      block('[image omitted: image/svg+xml, 6 bytes]'),
    ]);
  });

  test('over a cap are named, with the cap', () => {
    const big = Buffer.concat([PNG, Buffer.alloc(6 * 1024 * 1024)]).toString('base64');
    expect(image(big, 'image/png')[0]).toMatchObject({
      text: expect.stringMatching(/^\[image omitted: image\/png, \d+ bytes, over 5242880 bytes\]$/),
    });
    const wide = Buffer.from(PNG);
    wide.writeUInt32BE(9000, 16);
    expect(image(wide.toString('base64'), 'image/png')).toEqual([
      block(`[image omitted: image/png, ${wide.length} bytes, 9000x1 pixels]`),
    ]);
    const many = gate({
      content: Array.from({ length: 10 }, () => ({ type: 'image', data: png, mimeType: 'image/png' })),
    });
    expect(many.images).toBe(8);
    expect(many.content.at(-1)).toMatchObject({ text: expect.stringContaining('over 8 images') });
    const half = Buffer.concat([PNG, Buffer.alloc(4.9 * 1024 * 1024)]).toString('base64');
    const sum = gate({ content: [1, 2, 3].map(() => ({ type: 'image', data: half, mimeType: 'image/png' })) });
    expect(sum.images).toBe(2);
  });
});

describe('structuredContent and details', () => {
  test('are copied', () => {
    const result = gate({
      content: [],
      structuredContent: { a: [1, undefined, () => 1] },
      details: { when: new Date(0) },
    });
    expect(result).toMatchObject({
      structuredContent: { a: [1, null, null] },
      details: { when: '1970-01-01T00:00:00.000Z' },
    });
  });

  test('over their cap, too deep, cyclic or odd are replaced whole by a note', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = { deep };
    for (const [value, why] of [
      ['x'.repeat(300_000), /larger than 262144 bytes/],
      [{ ['k'.repeat(300_000)]: 1 }, /larger than/],
      [cyclic, /nested deeper than 64/],
      [deep, /nested deeper than 64/],
      [{ n: 1n }, /BigInt/],
      [
        {
          toJSON() {
            throw new Error('no');
          },
        },
        /cannot be read/,
      ],
    ] as const) {
      expect(gate({ content: [], structuredContent: value }).structuredContent).toMatch(why);
    }
    const { details } = gate({ content: [], details: { outcome: 'sent-unknown', blob: 'x'.repeat(300_000) } });
    expect(details).toEqual({ outcome: 'sent-unknown', note: expect.stringMatching(/details omitted/) });
  });

  test('keep an own __proto__ key as data', () => {
    const given: unknown = JSON.parse('{"__proto__":{"polluted":true}}');
    const { structuredContent } = gateResult('tool', { content: [], structuredContent: given }, caps);
    expect(JSON.stringify(structuredContent)).toBe('{"__proto__":{"polluted":true}}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

test('isError that is no boolean becomes one, and lone surrogates become text', () => {
  expect(gate({ content: [block('\ud800 kept')], isError: 'yes' })).toMatchObject({
    isError: true,
    content: [block('\ufffd kept')],
  });
});
