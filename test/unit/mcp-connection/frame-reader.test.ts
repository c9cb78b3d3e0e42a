import { describe, expect, test } from 'vitest';
import { guessFrame } from '../../../src/worker/mcp/connection/wire/answer-id.ts';
import { readFrame } from '../../../src/worker/mcp/connection/wire/frame-reader.ts';

const pending = new Set([7, 'seven']);
const read = (line: string | object) => readFrame(typeof line === 'string' ? line : JSON.stringify(line), pending);

describe('frame reader', () => {
  test('the four kinds of messages are read', () => {
    expect(read({ jsonrpc: '2.0', id: 7, result: { a: 1 } })).toEqual({ kind: 'answer', id: 7, result: { a: 1 } });
    expect(read({ jsonrpc: '2.0', id: 'seven', error: { code: -1, message: 'no', data: 'x' } })).toEqual({
      kind: 'error',
      id: 'seven',
      code: -1,
      message: 'no',
    });
    expect(read({ jsonrpc: '2.0', id: 1, method: 'ping' })).toEqual({ kind: 'request', id: 1, method: 'ping' });
    expect(read({ jsonrpc: '2.0', method: 'n', params: { b: 2 } })).toEqual({
      kind: 'notification',
      method: 'n',
      params: { b: 2 },
    });
  });

  test.each([
    '[sync] {',
    "  phase: 'start'",
    '}',
    '┌── ready ──┐',
    '{"level":"info","msg":"structured log"}',
    'null',
    '42',
    '"text"',
    '[]',
    '{}',
    '{"jsonrpc":"2.0"}',
    '[1,2,3]',
    '{"id":7,"result":"ok","level":"info"}',
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
    '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    '[{"jsonrpc":"2.0","method":"notifications/message"}]',
  ])('%s is noise', (line) => {
    expect(read(line)).toEqual({ kind: 'noise', text: line.trim() });
  });

  test('blank lines are nothing at all', () => {
    for (const line of ['', '   ', '\t']) expect(read(line)).toEqual({ kind: 'blank' });
  });

  test('an answer settles only the id of its own JSON type', () => {
    expect(read({ jsonrpc: '2.0', id: '7', result: {} })).toEqual({ kind: 'stray', id: '7' });
    expect(read({ jsonrpc: '2.0', id: 8, result: {} })).toEqual({ kind: 'stray', id: 8 });
  });

  test.each([
    [
      'a batch',
      [
        { jsonrpc: '2.0', method: 'n' },
        { jsonrpc: '2.0', id: 7, result: {} },
      ],
      /batch/,
    ],
    ['a version that is not 2.0', { jsonrpc: '1.0', id: 7, result: {} }, /"1\.0"/],
    ['no version, but nothing else either', { id: 7, result: {} }, /jsonrpc/],
    ['a result that is text', { jsonrpc: '2.0', id: 7, result: 'text' }, /string/],
    ['a result that is null', { jsonrpc: '2.0', id: 7, result: null }, /null/],
    ['a result that is an array', { jsonrpc: '2.0', id: 7, result: [] }, /an array/],
    ['a bare NaN', '{"jsonrpc":"2.0","id":7,"result":{"x":NaN}}', /not valid JSON/],
    ['a line that was cut', '{"jsonrpc":"2.0","id":7,"result":{"content":[{"ty', /not valid JSON/],
    ['a bare NaN with the id last', '{"result":{"x":NaN},"jsonrpc":"2.0","id":7}', /not valid JSON/],
  ])('%s in answer to a pending request fails that request', (_what, line, why) => {
    expect(read(line)).toEqual({ kind: 'malformed', ids: [7], why: expect.stringMatching(why) });
  });

  test('what the SDK would drop is straightened: extra keys, error: null, odd error objects, _meta: null', () => {
    expect(read({ jsonrpc: '2.0', id: 7, result: { _meta: null }, extra: 1 })).toEqual({
      kind: 'answer',
      id: 7,
      result: { _meta: null },
    });
    expect(read({ jsonrpc: '2.0', id: 7, result: {}, error: null })).toMatchObject({ kind: 'answer' });
    expect(read({ jsonrpc: '2.0', id: 7, error: 'boom' })).toMatchObject({
      kind: 'error',
      code: -32603,
      message: 'boom',
    });
    expect(read({ jsonrpc: '2.0', id: 7, error: { code: '4', message: { a: 1 } } })).toMatchObject({
      kind: 'error',
      message: '{"a":1}',
    });
    expect(read({ jsonrpc: '2.0', id: 1, method: 'ping', params: null })).toEqual({
      kind: 'request',
      id: 1,
      method: 'ping',
    });
  });

  test('a frame with text glued in front is salvaged for a pending id only', () => {
    const answer = '{"jsonrpc":"2.0","id":7,"result":{"a":1}}';
    expect(read(`Loading index... 100% ${answer}`)).toMatchObject({ kind: 'answer', id: 7 });
    expect(read(`{"level":"info"}${answer}`)).toMatchObject({ kind: 'answer', id: 7 });
    expect(read(`Loading... ${answer.replace('7', '1007')}`)).toMatchObject({ kind: 'noise' });
    expect(read(`-> {"jsonrpc":"2.0","id":7,"method":"tools/call"}`)).toMatchObject({ kind: 'noise' });
    expect(read(`x ${answer.replace('2.0', '1.0')}`)).toMatchObject({ kind: 'noise' });
  });

  test('an own __proto__ in a result is data', () => {
    const frame = read('{"jsonrpc":"2.0","id":7,"result":{"__proto__":{"x":1}}}');
    expect(frame.kind === 'answer' && Object.hasOwn(frame.result, '__proto__')).toBe(true);
  });
});

describe('the id of a line that cannot be parsed', () => {
  test('it is found at either end, never inside the result', () => {
    expect(guessFrame('{"jsonrpc":"2.0","id":7,"result":{"te', '"}}')).toEqual({ asks: false, id: 7 });
    expect(guessFrame('{"id" : "a\\"b" ,"result":', '')).toEqual({ asks: false, id: 'a"b' });
    expect(guessFrame('{"result":{"id":3,"x":"', '…"},"jsonrpc":"2.0","id":7}')).toEqual({ asks: false, id: 7 });
    expect(guessFrame('{"result":{"id":3,"x":"', '…"},"id":7,"jsonrpc":"2.0"}')).toEqual({ asks: false, id: 7 });
    expect(guessFrame('{"result":{"id":3,"x":"', '…","id":4}],"more":1}}')).toEqual({ asks: false });
    expect(guessFrame('zzzz', 'zzzz')).toEqual({ asks: false });
  });

  test('a notification and a request answer nothing', () => {
    expect(guessFrame('{"jsonrpc":"2.0","method":"notifications/message","params":{"id":7,', '}}')).toEqual({
      asks: true,
    });
    expect(guessFrame('{"jsonrpc":"2.0","method":"x","id":7,"params":"', '"}')).toEqual({ asks: true });
  });
});
