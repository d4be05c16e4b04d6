import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../kernel/json.ts';
import { encodeError, encodeErrorText, encodeNotification, encodeRequest, encodeResult, readMessage } from './jsonrpc.ts';

test.each<[Json, ReturnType<typeof readMessage>]>([
  [
    { jsonrpc: '2.0', id: 1, method: 'm' },
    { kind: 'request', id: 1, method: 'm', params: undefined },
  ],
  [
    { jsonrpc: '2.0', id: '', method: 'm', params: {} },
    { kind: 'request', id: '', method: 'm', params: {} },
  ],
  [
    { jsonrpc: '2.0', method: 'm', params: { a: 1 } },
    { kind: 'notification', method: 'm', params: { a: 1 } },
  ],
  [
    { jsonrpc: '2.0', id: 'x', result: {} },
    { kind: 'response', id: 'x' },
  ],
  [
    { jsonrpc: '2.0', id: 3, error: { code: 1, message: '' } },
    { kind: 'response', id: 3 },
  ],
  [[], { kind: 'batch' }],
])('%j is read as what it is', (value, message) => {
  expect(readMessage(value)).toEqual(message);
});

test.each<[Json, string | number | null, RegExp]>([
  [null, null, /object/],
  ['x', null, /object/],
  [{ id: 1, method: 'm' }, 1, /jsonrpc/],
  [{ jsonrpc: '1.0', id: 1, method: 'm' }, 1, /jsonrpc/],
  [{ jsonrpc: '2.0', id: null, method: 'm' }, null, /"id"/],
  [{ jsonrpc: '2.0', id: 1.5, method: 'm' }, null, /"id"/],
  [{ jsonrpc: '2.0', id: {}, method: 'm' }, null, /"id"/],
  [{ jsonrpc: '2.0', id: 1, method: 7 }, 1, /"method"/],
  [{ jsonrpc: '2.0', id: 1, method: 'm', params: [1] }, 1, /"params"/],
  [{ jsonrpc: '2.0', id: 1, method: 'm', params: null }, 1, /"params"/],
  [{ jsonrpc: '2.0', id: 1, method: 'm', result: {} }, 1, /neither/],
  [{ jsonrpc: '2.0', id: 1 }, 1, /only one/],
  [{ jsonrpc: '2.0', id: 1, result: {}, error: {} }, 1, /only one/],
  [{ jsonrpc: '2.0', result: {} }, null, /"id"/],
])('[DOOR-4] %j is refused with a reason and the id where there is one', (value, id, why) => {
  expect(readMessage(value)).toEqual({ kind: 'invalid', id, why: expect.stringMatching(why) as string });
});

test('[DOOR-11] a result goes into its envelope as the very same text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.maxSafeInteger()), fc.json(), (id, result) => {
      const text = encodeResult(id, result);
      expect(text.endsWith(`,"result":${result}}`)).toBe(true);
      expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', id, result: JSON.parse(result) as unknown });
    }),
  );
});

test('errors, notifications and requests are written as JSON-RPC 2.0', () => {
  expect(encodeError(null, -32700, 'a "b"')).toBe('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a \\"b\\""}}');
  expect(encodeError(1, -1, 'm', { k: 1 })).toBe('{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":{"k":1}}}');
  expect(encodeErrorText('a', '{"code": 5}')).toBe('{"jsonrpc":"2.0","id":"a","error":{"code": 5}}');
  expect(encodeNotification('n')).toBe('{"jsonrpc":"2.0","method":"n"}');
  expect(encodeNotification('n', '{"a":1}')).toBe('{"jsonrpc":"2.0","method":"n","params":{"a":1}}');
  expect(encodeRequest(2, 'r', undefined)).toBe('{"jsonrpc":"2.0","id":2,"method":"r"}');
  expect(encodeRequest(2, 'r', '{}')).toBe('{"jsonrpc":"2.0","id":2,"method":"r","params":{}}');
});
