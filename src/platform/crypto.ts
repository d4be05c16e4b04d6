// Digest, Entropy, Signer and Verifier on node:crypto, over raw keys; also the private key files of the home.
import * as crypto from 'node:crypto';
import { stat } from 'node:fs/promises';
import { AppError } from '../kernel/errors.ts';
import type { Digest, Entropy, Files, Signer, Verifier } from '../kernel/ports.ts';

// RFC 8410: the fixed DER before a raw Ed25519 seed (PKCS #8) and a raw public key (SPKI).
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex');
const keyFileHead = 'sallyport-secret-v1 ';

const blockBytes = 64;
/** Texts up to here are hashed with their key in one go, from bytes that are written to the same place each time. UTF-16 units. */
const longestInOne = 2 * 1024 * 1024;
/** A unit takes at most three bytes of UTF-8; pages that are never written to cost nothing. */
const bytesPerUnit = 3;

/** A text with a character for each byte, made into bytes here, costs half of what bytes made by OpenSSL do. */
function sha256(data: string | Uint8Array): Buffer {
  return Buffer.from(crypto.hash('sha256', data, 'binary'), 'binary');
}

/** Room for the padded key and a text of that many units. */
function innerFor(length: number): Buffer {
  return Buffer.allocUnsafeSlow(blockBytes + bytesPerUnit * length).fill(0x36, 0, blockBytes);
}

export function createDigest(): Digest {
  // RFC 2104 by its definition, H(K ^ opad, H(K ^ ipad, text)): two hashes of what stands here cost a third of one Hmac object.
  let inner = innerFor(32 * 1024);
  const outer = Buffer.allocUnsafeSlow(blockBytes + 32).fill(0x5c, 0, blockBytes);
  let keyBytes = 0;

  function setKey(key: Uint8Array): void {
    for (let at = 0; at < key.length; at += 1) {
      const byte = key[at] as number;
      inner[at] = byte ^ 0x36;
      outer[at] = byte ^ 0x5c;
    }
    if (key.length < keyBytes) {
      inner.fill(0x36, key.length, keyBytes);
      outer.fill(0x5c, key.length, keyBytes);
    }
    keyBytes = key.length;
  }

  function hmac(key: Uint8Array, data: string | Uint8Array, encoding: 'binary' | 'base64url'): string {
    if (key.length > blockBytes || data.length > longestInOne) {
      return crypto.createHmac('sha256', key).update(data).digest(encoding);
    }
    if (blockBytes + bytesPerUnit * data.length > inner.length) {
      inner = innerFor(Math.min(longestInOne, 2 * data.length));
      keyBytes = blockBytes;
    }
    setKey(key);
    const length = typeof data === 'string' ? inner.write(data, blockBytes, 'utf8') : (inner.set(data, blockBytes), data.length);
    outer.write(crypto.hash('sha256', inner.subarray(0, blockBytes + length), 'binary'), blockBytes, 'binary');
    return crypto.hash('sha256', outer, encoding);
  }

  return {
    sha256,
    hmacSha256: (key, data) => Buffer.from(hmac(key, data, 'binary'), 'binary'),
    hmacSha256Text: (key, data) => hmac(key, data, 'base64url'),
  };
}

export function createEntropy(): Entropy {
  return { bytes: (length) => crypto.randomBytes(length), uuid: () => crypto.randomUUID() };
}

/** Wrong lengths and points off the curve verify as false; nothing throws. */
export function createVerifier(): Verifier {
  let lastRaw: Uint8Array | undefined;
  let lastKey: crypto.KeyObject | undefined;
  return {
    verify(publicKey, data, signature) {
      if (publicKey.length !== 32 || signature.length !== 64) return false;
      try {
        // Parsing costs as much as verifying and nearly all checks are against the same key.
        if (!lastKey || !lastRaw || Buffer.compare(lastRaw, publicKey) !== 0) {
          lastKey = crypto.createPublicKey({ key: Buffer.concat([spkiHead, publicKey]), format: 'der', type: 'spki' });
          lastRaw = Uint8Array.from(publicKey);
        }
        return crypto.verify(null, data, lastKey, signature);
      } catch {
        return false;
      }
    },
  };
}

/** `seed32` is the RFC 8032 private key, 32 bytes. */
export function signerFromSeed(seed32: Uint8Array): Signer {
  if (seed32.length !== 32) throw new RangeError('an Ed25519 seed has 32 bytes');
  const key = crypto.createPrivateKey({ key: Buffer.concat([pkcs8Head, seed32]), format: 'der', type: 'pkcs8' });
  const spki = crypto.createPublicKey(key).export({ format: 'der', type: 'spki' });
  return { publicKey: Uint8Array.from(spki.subarray(spkiHead.length)), sign: (data) => crypto.sign(null, data, key) };
}

function locked(path: string, what: string, hint: string): AppError {
  return new AppError('unavailable', 'platform.key_locked', `the key file ${path} ${what}`, { hint, data: { path } });
}

/**
 * The 32 secret bytes kept in a 0600 file, made on first use. Throws `platform.key_locked` when others may read the file, when it
 * belongs to somebody else or when it is damaged: a doubtful key is never replaced by a new one.
 */
export async function loadOrCreateSecret(files: Files, path: string): Promise<Uint8Array> {
  if ((await files.size(path)) === undefined) {
    await files.writeAtomic(path, `${keyFileHead}${crypto.randomBytes(32).toString('base64url')}\n`);
  }
  const { mode, uid } = await stat(path);
  if ((mode & 0o077) !== 0) {
    throw locked(path, `can be used by other users (mode ${(mode & 0o777).toString(8)})`, `Run: chmod 600 ${path}`);
  }
  if (process.getuid !== undefined && uid !== process.getuid()) {
    throw locked(path, 'belongs to another user', 'Start as the owner of the home, or restore the file from a backup.');
  }
  const text = (await files.readText(path)) ?? '';
  const secret = /^sallyport-secret-v1 ([A-Za-z0-9_-]{43})\n?$/.exec(text)?.[1];
  if (secret === undefined) throw locked(path, 'is damaged', 'Restore it from a backup.');
  return Uint8Array.from(Buffer.from(secret, 'base64url'));
}

/** A signer whose seed is kept by `loadOrCreateSecret`, with the same errors. */
export async function loadOrCreateSigner(files: Files, path: string): Promise<Signer> {
  return signerFromSeed(await loadOrCreateSecret(files, path));
}
