// Hybrid public key encryption (RFC 9180), base mode, single shot, with DHKEM(X25519, HKDF-SHA256) and HKDF-SHA256: what is sealed to a
// public key only its private half opens. Says nothing of who sealed it.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  type KeyObject,
} from 'node:crypto';

// RFC 8410: the fixed DER before a raw X25519 private key (PKCS #8) and a raw public key (SPKI).
const pkcs8Head = Buffer.from('302e020100300506032b656e04220420', 'hex');
const spkiHead = Buffer.from('302a300506032b656e032100', 'hex');

const publicKeyBytes = 32;
const tagBytes = 16;

export interface HpkeAead {
  readonly name: 'aes-128-gcm' | 'aes-256-gcm';
  /** RFC 9180 §7.3. */
  readonly id: number;
  readonly keyBytes: number;
}

export const aes128Gcm: HpkeAead = { name: 'aes-128-gcm', id: 1, keyBytes: 16 };
export const aes256Gcm: HpkeAead = { name: 'aes-256-gcm', id: 2, keyBytes: 32 };

export interface HpkeText {
  readonly info: Uint8Array;
  readonly bound: Uint8Array;
}

/** `enc` and ciphertext with its tag, one behind the other. `ephemeral` is a fresh private key of 32 random bytes, used this once. */
export function hpkeSeal(
  aead: HpkeAead,
  publicKey: Uint8Array,
  ephemeral: Uint8Array,
  { info, bound }: HpkeText,
  plain: Uint8Array,
): Uint8Array {
  const enc = x25519PublicKey(ephemeral);
  const { key, nonce } = schedule(aead, sharedSecret(exchange(ephemeral, publicKey), enc, publicKey), info);
  const cipher = createCipheriv(aead.name, key, nonce, { authTagLength: tagBytes }).setAAD(bound);
  const sealed = Buffer.concat([enc, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  key.fill(0);
  return sealed;
}

/** `undefined` for whatever was not sealed to this key with these texts, or was changed since. */
export function hpkeOpen(
  aead: HpkeAead,
  privateKey: Uint8Array,
  { info, bound }: HpkeText,
  sealed: Uint8Array,
): Uint8Array | undefined {
  if (sealed.length < publicKeyBytes + tagBytes) return undefined;
  const enc = sealed.subarray(0, publicKeyBytes);
  const tag = sealed.subarray(sealed.length - tagBytes);
  let plain: Buffer | undefined;
  let key: Buffer | undefined;
  try {
    const derived = schedule(aead, sharedSecret(exchange(privateKey, enc), enc, x25519PublicKey(privateKey)), info);
    key = derived.key;
    const decipher = createDecipheriv(aead.name, key, derived.nonce, { authTagLength: tagBytes }).setAAD(bound).setAuthTag(tag);
    plain = decipher.update(sealed.subarray(publicKeyBytes, sealed.length - tagBytes));
    decipher.final();
    return plain;
  } catch {
    plain?.fill(0);
    return undefined;
  } finally {
    key?.fill(0);
  }
}

export function x25519PublicKey(privateKey: Uint8Array): Uint8Array {
  const spki = createPublicKey(privateKeyOf(privateKey)).export({ format: 'der', type: 'spki' });
  return Uint8Array.from(spki.subarray(spkiHead.length));
}

function privateKeyOf(raw: Uint8Array): KeyObject {
  if (raw.length !== 32) throw new RangeError('an X25519 key has 32 bytes');
  const der = Buffer.concat([pkcs8Head, raw]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  return key;
}

/** Throws for the points of small order, whose shared secret anybody knows (RFC 7748 §6.1). */
function exchange(privateKey: Uint8Array, publicKey: Uint8Array): Buffer {
  const peer = createPublicKey({ key: Buffer.concat([spkiHead, publicKey]), format: 'der', type: 'spki' });
  return diffieHellman({ privateKey: privateKeyOf(privateKey), publicKey: peer });
}

const empty = Buffer.alloc(0);
const kemId = Buffer.from('KEM\x00\x20', 'latin1');
const version = Buffer.from('HPKE-v1');

const twoBytes = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);

/** RFC 9180 §4.1, ExtractAndExpand. */
function sharedSecret(dh: Buffer, enc: Uint8Array, publicKey: Uint8Array): Buffer {
  const prk = labeledExtract(kemId, empty, 'eae_prk', dh);
  dh.fill(0);
  return labeledExpand(kemId, prk, 'shared_secret', Buffer.concat([enc, publicKey]), 32);
}

/** RFC 9180 §5.1, KeySchedule in mode_base; the nonce is the one of the first and only message. */
function schedule(aead: HpkeAead, shared: Buffer, info: Uint8Array): { key: Buffer; nonce: Buffer } {
  const suite = Buffer.concat([Buffer.from('HPKE'), twoBytes(0x20), twoBytes(1), twoBytes(aead.id)]);
  const context = Buffer.concat([
    Buffer.of(0),
    labeledExtract(suite, empty, 'psk_id_hash', empty),
    labeledExtract(suite, empty, 'info_hash', info),
  ]);
  const secret = labeledExtract(suite, shared, 'secret', empty);
  shared.fill(0);
  const expanded = {
    key: labeledExpand(suite, secret, 'key', context, aead.keyBytes),
    nonce: labeledExpand(suite, secret, 'base_nonce', context, 12),
  };
  secret.fill(0);
  return expanded;
}

function labeledExtract(suite: Buffer, salt: Buffer, label: string, ikm: Uint8Array): Buffer {
  return hmac(salt, Buffer.concat([version, suite, Buffer.from(label), ikm]));
}

/** One block of HKDF-Expand (RFC 5869) is all that is ever asked for: `length` is at most 32. */
function labeledExpand(suite: Buffer, prk: Buffer, label: string, info: Uint8Array, length: number): Buffer {
  const labeled = Buffer.concat([twoBytes(length), version, suite, Buffer.from(label), info, Buffer.of(1)]);
  return hmac(prk, labeled).subarray(0, length);
}

function hmac(key: Buffer, data: Buffer): Buffer {
  return createHmac('sha256', key).update(data).digest();
}
