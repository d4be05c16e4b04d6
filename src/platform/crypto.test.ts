import { createHmac } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDigest, createEntropy, createVerifier, loadOrCreateSecret, loadOrCreateSigner, signerFromSeed } from './crypto.ts';
import { createFiles } from './files.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const raw = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));

describe('digest', () => {
  it('is SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 4231, case 2)', () => {
    const digest = createDigest();
    expect(hex(digest.sha256('abc'))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(hex(digest.sha256(raw('616263')))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(hex(digest.hmacSha256(raw('4a656665'), 'what do ya want for nothing?'))).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });
});

it('HMAC of long texts is that of node:crypto too, whatever came before', () => {
  const digest = createDigest();
  const long = [1_000_000, 40_000, 2_097_152, 2_097_153, 10, 1_500_000];
  for (const [at, length] of long.entries()) {
    for (const text of ['x'.repeat(length), '\u6f22'.repeat(length)]) {
      const key = new Uint8Array(at * 10).fill(at);
      expect(digest.hmacSha256Text(key, text)).toBe(createHmac('sha256', key).update(text).digest('base64url'));
    }
  }
});

it('HMAC is that of node:crypto for every key, text and length, and what was hashed before leaves no trace', () => {
  const digest = createDigest();
  const keys = fc.uint8Array({ maxLength: 70 });
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.uint8Array(),
    fc.constantFrom('é☃'.repeat(16_384), '\ud800', 'x'.repeat(32_769), new Uint8Array(40_000)),
  );
  fc.assert(
    fc.property(keys, texts, (key, text) => {
      const expected = createHmac('sha256', key).update(text).digest();
      expect(hex(digest.hmacSha256(key, text))).toBe(hex(expected));
      expect(digest.hmacSha256Text(key, text)).toBe(expected.toString('base64url'));
    }),
    { numRuns: 500 },
  );
});

describe('Ed25519', () => {
  // RFC 8032 §7.1, test 2.
  const seed = raw('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb');
  const publicKey = '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c';
  const signature =
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00';

  it('signs and verifies the vector of RFC 8032', () => {
    const signer = signerFromSeed(seed);
    expect(hex(signer.publicKey)).toBe(publicKey);
    expect(hex(signer.sign(raw('72')))).toBe(signature);
    expect(createVerifier().verify(raw(publicKey), raw('72'), raw(signature))).toBe(true);
  });

  it('refuses other data, another key, and keys or signatures of the wrong length without throwing', () => {
    const verifier = createVerifier();
    expect(verifier.verify(raw(publicKey), raw('73'), raw(signature))).toBe(false);
    expect(verifier.verify(signerFromSeed(createEntropy().bytes(32)).publicKey, raw('72'), raw(signature))).toBe(false);
    expect(verifier.verify(raw(publicKey), raw('72'), raw(signature).subarray(1))).toBe(false);
    expect(verifier.verify(new Uint8Array(31), raw('72'), raw(signature))).toBe(false);
    expect(() => signerFromSeed(new Uint8Array(31))).toThrow(RangeError);
  });
});

describe('key file', () => {
  const files = createFiles();
  let path: string;
  beforeEach(() => {
    path = join(fs.mkdtempSync(join(tmpdir(), 'keys-')), 'keys', 'log');
  });
  afterEach(() => fs.rmSync(join(path, '..', '..'), { recursive: true, force: true }));

  it('is made once, 0600, and gives the same key afterwards', async () => {
    const first = await loadOrCreateSigner(files, path);
    const again = await loadOrCreateSigner(files, path);
    expect(hex(again.publicKey)).toBe(hex(first.publicKey));
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
  });

  it('is refused when the group or the world may use it, with the command that repairs it', async () => {
    await loadOrCreateSecret(files, path);
    fs.chmodSync(path, 0o640);
    await expect(loadOrCreateSecret(files, path)).rejects.toMatchObject({
      code: 'platform.key_locked',
      hint: `Run: chmod 600 ${path}`,
    });
  });

  it('is refused, not replaced, when it is damaged', async () => {
    await loadOrCreateSecret(files, path);
    fs.writeFileSync(path, 'sallyport-secret-v1 short\n');
    await expect(loadOrCreateSecret(files, path)).rejects.toMatchObject({ code: 'platform.key_locked' });
    expect(fs.readFileSync(path, 'utf8')).toContain('short');
  });
});
