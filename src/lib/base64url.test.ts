// Held against Node's own codec.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64url, encodeBase64url, encodeHex } from './base64url.ts';

test('every byte string has the text Node gives it and comes back from it', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const text = encodeBase64url(bytes);
      expect(text).toBe(Buffer.from(bytes).toString('base64url'));
      expect(decodeBase64url(text)).toEqual(Uint8Array.from(bytes));
      expect(encodeHex(bytes)).toBe(Buffer.from(bytes).toString('hex'));
    }),
  );
});

test('padding, the other alphabet, white space, impossible lengths and stray bits are refused', () => {
  for (const text of ['QQ==', 'Q+8_', 'Q/8_', 'QUI ', 'A', 'QUJDR', 'QR', 'QUJ', 'é'])
    expect([text, decodeBase64url(text)]).toEqual([text, undefined]);
});
