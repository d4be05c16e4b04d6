// Agent tokens: `sp_`, 256 random bits in base64url (43 characters), and a checksum of 6 more, by which secret scanners can tell
// one from chance and we can refuse a mistyped one without looking it up.
import { encodeBase64url, encodeHex } from '../../lib/base64url.ts';
import type { Digest, Entropy } from '../../kernel/ports.ts';

const shape = /^sp_[A-Za-z0-9_-]{43}([A-Za-z0-9_-]{6})$/;
const checksumLength = 6;

function checksum(digest: Digest, body: string): string {
  return encodeBase64url(digest.sha256(body)).slice(0, checksumLength);
}

export function newToken(entropy: Entropy, digest: Digest): string {
  const body = `sp_${encodeBase64url(entropy.bytes(32))}`;
  return body + checksum(digest, body);
}

/** Well-formed, checksum included. Says nothing of whose it is. */
export function isToken(digest: Digest, text: string): boolean {
  return shape.exec(text)?.[1] === checksum(digest, text.slice(0, -checksumLength));
}

/**
 * What is stored: lower-case hex of SHA-256 over the whole token. A slow hash protects what people can guess; 256 random bits
 * cannot be searched, and one fast hash keeps authentication off the cost of a call.
 */
export function tokenHash(digest: Digest, token: string): string {
  return encodeHex(digest.sha256(token));
}
