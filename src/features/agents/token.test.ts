import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDigest, createEntropy } from '../../platform/crypto.ts';
import { looksLikeToken, newToken, tokenHash } from './token.ts';

const digest = createDigest();
const entropy = createEntropy();

test('[AGENT-1] a token carries exactly 256 bits of entropy, all that were drawn', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      let drawn = 0;
      const token = newToken({ ...entropy, bytes: (length) => ((drawn += length), Uint8Array.from(bytes)) }, digest);
      expect(drawn).toBe(32);
      expect(token).toMatch(/^sp_[A-Za-z0-9_-]{49}$/);
      expect(Uint8Array.from(Buffer.from(token.slice(3, 46), 'base64url'))).toEqual(bytes);
    }),
  );
});

test('a token of a known draw is spelled as it always was', () => {
  const token = newToken({ ...entropy, bytes: (length) => new Uint8Array(length) }, digest);
  expect(token).toBe('sp_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA5MN5r9');
});

test('[AGENT-1] what is stored is the SHA-256 of the whole token', () => {
  const token = newToken(entropy, digest);
  expect(tokenHash(digest, token)).toBe(createHash('sha256').update(token).digest('hex'));
});

test('the checksum is that of everything before it', () => {
  const token = newToken(entropy, digest);
  const checksum = createHash('sha256').update(token.slice(0, -6)).digest('base64url').slice(0, 6);
  expect(token.slice(-6)).toBe(checksum);
});

test('what has another length or other characters does not even look like a token', () => {
  const token = newToken(entropy, digest);
  expect(looksLikeToken(token)).toBe(true);
  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.constantFrom('A', '0', '_', '-', 'é', ' '), (at, character) => {
      expect(looksLikeToken(token.slice(0, at) + token.slice(at + 1))).toBe(false);
      expect(looksLikeToken(token.slice(0, at) + character + token.slice(at))).toBe(false);
    }),
  );
  for (const text of ['', 'sp_', token.toUpperCase(), ` ${token}`, `${token}\n`, `${token.slice(0, -1)}é`]) {
    expect(looksLikeToken(text)).toBe(false);
  }
});
