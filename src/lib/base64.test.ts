// Held against Node's own codec.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64, encodeBase64 } from './base64.ts';

test('every byte string has the text Node gives it and comes back from it', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const text = encodeBase64(bytes);
      expect(text).toBe(Buffer.from(bytes).toString('base64'));
      expect(decodeBase64(text)).toEqual(Uint8Array.from(bytes));
    }),
  );
});

test('missing padding, the other alphabet, white space and stray bits are refused', () => {
  for (const text of ['QQ', 'Q-8_', 'QUI =', 'QQ==\n', 'QR==', 'é']) expect([text, decodeBase64(text)]).toEqual([text, undefined]);
});
