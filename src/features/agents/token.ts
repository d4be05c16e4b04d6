// Agent tokens: `sp_`, 256 random bits in base64url (43 characters), and a checksum of 6 more, by which secret scanners can tell
// one from chance.
import { encodeBase64url, encodeHex } from '../../lib/base64url.ts';
import type { Digest, Entropy } from '../../kernel/ports.ts';

const shape = /^sp_[A-Za-z0-9_-]{49}$/;
const checksumLength = 6;

function checksum(digest: Digest, body: string): string {
  return encodeBase64url(digest.sha256(body)).slice(0, checksumLength);
}

export function newToken(entropy: Entropy, digest: Digest): string {
  const body = `sp_${encodeBase64url(entropy.bytes(32))}`;
  return body + checksum(digest, body);
}

/** Of the right length and characters. The checksum is for others: to us a wrong one is a token that nobody has. */
export function looksLikeToken(text: string): boolean {
  return shape.test(text);
}

/**
 * What is stored: lower-case hex of SHA-256 over the whole token. A slow hash protects what people can guess; 256 random bits
 * cannot be searched, and one fast hash keeps authentication off the cost of a call.
 */
export function tokenHash(digest: Digest, token: string): string {
  return encodeHex(digest.sha256(token));
}
