import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { oddResult } from '../../test/fixtures/odd-result.ts';
import { readFrame, splitBatch } from './frame-slice.ts';

describe('a frame of an upstream', () => {
  test.each([
    ['last', `{"jsonrpc":"2.0","id":7,"result":${oddResult}}`],
    ['first, as the TypeScript SDK writes it', `{"result":${oddResult},"jsonrpc":"2.0","id":7}`],
    ['in the middle', `{"jsonrpc":"2.0","result":${oddResult},"id":7}`],
    ['before unknown members', `{"result":${oddResult},"id":7,"x-trace":{"a":[1]},"jsonrpc":"2.0"}`],
    ['between white space', ` { "id" : 7 , "jsonrpc" : "2.0" , "result" : ${oddResult} } `],
    ['under an escaped key', String.raw`{"jsonrpc":"2.0","id":7,"r\u0065sult":` + `${oddResult}}`],
  ])('[DOOR-11] keeps the text of a result that stands %s', (_where, line) => {
    expect(readFrame(line)).toEqual({ kind: 'result', id: 7, json: oddResult, value: JSON.parse(oddResult) });
  });

  test('[DOOR-11] any result in any member order and spacing is cut out as it was', () => {
    const gap = fc.constantFrom('', ' ', '\t');
    const result = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })).map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(
        result,
        fc.nat(),
        fc.shuffledSubarray(['id', 'jsonrpc', 'result', 'x'], { minLength: 4 }),
        gap,
        (json, id, order, space) => {
          const members: Record<string, string> = { id: String(id), jsonrpc: '"2.0"', result: json, x: '[",\\"id\\":9}"]' };
          const line = `{${order.map((key) => `${space}"${key}"${space}:${space}${members[key]}${space}`).join(',')}}`;
          expect(readFrame(line)).toMatchObject({ kind: 'result', id, json });
        },
      ),
    );
  });

  test('a result whose text ends like an envelope is not cut short', () => {
    const tricky = '{"text":",\\"jsonrpc\\":\\"2.0\\",\\"id\\":8}","jsonrpc":"2.0","id":8}';
    expect(readFrame(`{"jsonrpc":"2.0","id":7,"result":${tricky}}`)).toMatchObject({ id: 7, json: tricky });
    expect(readFrame(`{"result":${tricky},"jsonrpc":"2.0","id":7}`)).toMatchObject({ id: 7, json: tricky });
  });

  test('duplicate keys inside the result travel on, in the envelope they are refused', () => {
    expect(readFrame('{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}')).toMatchObject({ json: '{"a":1,"a":2}' });
    expect(readFrame('{"jsonrpc":"2.0","id":1,"result":{"a":1},"id":2}')).toBeUndefined();
    expect(readFrame('{"jsonrpc":"2.0","id":1,"id":2,"result":{}}')).toBeUndefined();
    expect(readFrame('{"result":{"a":1},"result":{"b":2},"jsonrpc":"2.0","id":1}')).toBeUndefined();
    expect(readFrame(String.raw`{"jsonrpc":"2.0","id":1,"result":{},"resul\u0074":{}}`)).toBeUndefined();
  });

  test('an error keeps its text and gives its code', () => {
    const error = '{"code":-32602,"message":"no \\u00e9","data":{"n":1.0}}';
    expect(readFrame(`{"jsonrpc":"2.0","id":3,"error":${error}}`)).toEqual({ kind: 'error', id: 3, json: error, code: -32602 });
  });

  test('[TWOWAY-21] requests keep the text of their id, and with notifications that of their params', () => {
    expect(readFrame('{"jsonrpc":"2.0","id":1.0,"method":"ping"}')).toEqual({ kind: 'request', id: '1.0', method: 'ping' });
    const told = { method: 'n', params: { a: 1 }, text: '{ "a":1.0 }' };
    expect(readFrame('{"jsonrpc":"2.0","id":"x","method":"n","params":{ "a":1.0 }}')).toEqual({
      kind: 'request',
      id: '"x"',
      ...told,
    });
    expect(readFrame('{"params":{ "a":1.0 },"id":"x","method":"n","jsonrpc":"2.0"}')).toEqual({
      kind: 'request',
      id: '"x"',
      ...told,
    });
    expect(readFrame('{"jsonrpc":"2.0","method":"n","params":{ "a":1.0 }}')).toEqual({ kind: 'notification', ...told });
    expect(readFrame('{"params":{ "a":1.0 },"method":"n","jsonrpc":"2.0"}')).toEqual({ kind: 'notification', ...told });
    expect(readFrame('{"jsonrpc":"2.0","method":"n"}')).toEqual({ kind: 'notification', method: 'n', params: undefined });
  });

  test.each([
    '{"jsonrpc":"2.0","id":1,"result":null}',
    '{"jsonrpc":"2.0","id":1,"result":[1]}',
    '{"jsonrpc":"2.0","id":1}',
    '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}',
    '{"jsonrpc":"2.0","id":1,"error":"text"}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"m"}}',
  ])('the response %s answers its id with nothing usable', (line) => {
    expect(readFrame(line)).toMatchObject({ kind: 'broken', id: 1 });
  });

  test.each([
    '',
    'Server listening on stdio',
    '{"jsonrpc":"2.0","id":',
    '{"jsonrpc":"2.0","id":1,"result":{"a":}}',
    '{"jsonrpc":"2.0","id":1,"result":{}} trailing',
    '{"jsonrpc":"2.0","id":01,"result":{}}',
    '{"id":1,"result":{}}',
    '{"jsonrpc":"1.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","result":{}}',
    '{"jsonrpc":"2.0","method":7}',
    '[]',
    '7',
    '{}',
  ])('%j is no frame', (line) => {
    expect(readFrame(line)).toBeUndefined();
  });

  test('no text at all makes the reader throw', () => {
    const unit = fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', ' ', '1', 'e', '-', '.', 'id', '"id":1', '"result":');
    const anyLine = fc.property(fc.string({ unit }), (line) => {
      readFrame(`{${line}`);
      splitBatch(`[${line}`);
    });
    expect(() => fc.assert(anyLine)).not.toThrow();
  });

  test('a batch is its messages', () => {
    expect(splitBatch(' [{"a":1} , {"b":[2]}]')).toEqual(['{"a":1}', '{"b":[2]}']);
    expect(splitBatch('{"a":1}')).toEqual(['{"a":1}']);
    expect(splitBatch('[1')).toEqual([]);
  });
});
