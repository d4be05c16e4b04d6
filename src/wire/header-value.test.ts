import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeHeaderValue, encodeHeaderValue } from './header-value.ts';

// The examples of the specification, Streamable HTTP, "Value Encoding".
test.each([
  ['us-west1', 'us-west1'],
  ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
  [' padded ', '=?base64?IHBhZGRlZCA=?='],
  ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
  ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
  ['', '=?base64??='],
  ['a b\tc', 'a b\tc'],
  ['=?base64?open', '=?base64?open'],
  ['=?base64?=', '=?base64?='],
])('[ERA-5] %j is written %s and read back', (text, value) => {
  expect(encodeHeaderValue(text)).toBe(value);
  expect(decodeHeaderValue(value)).toBe(text);
});

test('[ERA-5] every text survives the way there and back, in characters a header may hold', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' })), (text) => {
      fc.pre(text.isWellFormed());
      const value = encodeHeaderValue(text);
      expect(value).toMatch(/^[\x20-\x7e\t]*$/);
      expect(decodeHeaderValue(value)).toBe(text);
    }),
  );
});

test.each([
  '',
  ' a',
  'a ',
  'é',
  'a\u0000b',
  'a\rb',
  '=?base64?SGVsbG8?=',
  '=?base64?SGVs!!!bG8=?=',
  '=?base64?SGVsbG9=?=',
  '=?base64?SGVs bG8=?=',
  '=?base64?/w==?=',
])('[ERA-5] %j is no such value', (value) => {
  expect(decodeHeaderValue(value)).toBeUndefined();
});
