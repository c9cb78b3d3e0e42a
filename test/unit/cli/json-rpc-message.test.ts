import { describe, expect, it } from 'vitest';
import { idInHead, readMessage } from '../../../src/host/cli/json-rpc-message.ts';

describe('readMessage', () => {
  it('tells requests, notifications and answers apart', () => {
    expect(readMessage('{"jsonrpc":"2.0","id":0,"method":"m","params":[1]}')).toEqual({
      kind: 'request',
      id: 0,
      method: 'm',
      params: [1],
    });
    expect(readMessage('{"jsonrpc":"2.0","method":"m"}')).toMatchObject({ kind: 'notification', method: 'm' });
    expect(readMessage('{"jsonrpc":"2.0","id":1,"error":{}}')).toEqual({
      kind: 'answer',
      id: 1,
      refused: 'the client refused',
    });
    expect(readMessage('{"jsonrpc":"2.0","id":"host-1","result":{"value":true}}')).toEqual({
      kind: 'answer',
      id: 'host-1',
      result: { value: true },
    });
  });

  it.each([
    ['{', -32700, null],
    ['[]', -32600, null],
    ['null', -32600, null],
    ['{"jsonrpc":"2.0","id":{},"method":"m"}', -32600, null],
    ['{"jsonrpc":"2.0","id":3,"method":7}', -32600, 3],
    ['{"id":"x","method":"m"}', -32600, 'x'],
  ])('%s is invalid', (line, code, id) => {
    expect(readMessage(line)).toMatchObject({ kind: 'invalid', id, error: { code } });
  });
});

describe('idInHead', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":5,"method":"m","params":{"x":"aaa', 5],
    ['{"jsonrpc":"2.0","id":"a\\"b","method":"m","params":{"x":"aaa', 'a"b'],
    ['{"params":{"id":1},"id":-2.5e3,"x":"aa', -2500],
    ['{"params":{"id":1,"list":[{"id":2}],"x":"aa', null],
    ['{"params":"}, \\"id\\": 7, ","x":"aa', null],
    ['{"method":"m","params":{"x":"}","y":"cut } , \\"id\\" : 7 ,', null],
    ['{"jsonrpc":"2.0","id":12', null],
    ['{"jsonrpc":"2.0","id":null,"x":"aa', null],
    ['{"method":"id","x":"aa', null],
    ['garbage ]]] "id":1,', null],
    ['', null],
  ])('of %s is %s', (head, id) => {
    expect(idInHead(head)).toBe(id);
  });
});
