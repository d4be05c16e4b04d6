import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { aes128Gcm, aes256Gcm, hpkeOpen, hpkeSeal, x25519PublicKey } from './hpke.ts';

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));

// RFC 9180 appendix A.1.1: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM, base setup, the first encryption.
const vector = {
  info: hex('4f6465206f6e2061204772656369616e2055726e'),
  bound: hex('436f756e742d30'),
  ephemeral: hex('52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736'),
  enc: '37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431',
  privateKey: hex('4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8'),
  publicKey: hex('3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d'),
  plain: hex('4265617574792069732074727574682c20747275746820626561757479'),
  sealed: 'f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a',
};

test('[VAULT-1] sealing to a public key gives the bytes of RFC 9180 A.1.1, and opening them the text', () => {
  expect(Buffer.from(x25519PublicKey(vector.privateKey))).toEqual(Buffer.from(vector.publicKey));
  const sealed = hpkeSeal(aes128Gcm, vector.publicKey, vector.ephemeral, vector, vector.plain);
  expect(Buffer.from(sealed).toString('hex')).toBe(vector.enc + vector.sealed);
  expect(Buffer.from(hpkeOpen(aes128Gcm, vector.privateKey, vector, sealed) ?? [])).toEqual(Buffer.from(vector.plain));
});

test('[VAULT-1] with AES-256-GCM any changed byte, other key or other text opens nothing', () => {
  const privateKey = randomBytes(32);
  const text = { info: hex('01'), bound: hex('02') };
  const sealed = hpkeSeal(aes256Gcm, x25519PublicKey(privateKey), randomBytes(32), text, vector.plain);
  expect(Buffer.from(hpkeOpen(aes256Gcm, privateKey, text, sealed) ?? [])).toEqual(Buffer.from(vector.plain));
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Uint8Array.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    // The highest bit of an X25519 coordinate is ignored (RFC 7748 §5), but HPKE hashes `enc` as it stands.
    expect(hpkeOpen(aes256Gcm, privateKey, text, changed)).toBeUndefined();
  }
  expect(hpkeOpen(aes256Gcm, randomBytes(32), text, sealed)).toBeUndefined();
  expect(hpkeOpen(aes256Gcm, privateKey, { ...text, info: hex('03') }, sealed)).toBeUndefined();
  expect(hpkeOpen(aes256Gcm, privateKey, { ...text, bound: hex('03') }, sealed)).toBeUndefined();
  for (const length of [0, 31, 47, sealed.length - 1]) {
    expect(hpkeOpen(aes256Gcm, privateKey, text, sealed.subarray(0, length))).toBeUndefined();
  }
  // A point of small order: the shared secret would be known to everybody.
  expect(hpkeOpen(aes256Gcm, privateKey, text, Buffer.concat([new Uint8Array(32), sealed.subarray(32)]))).toBeUndefined();
});
