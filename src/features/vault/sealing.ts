// Sealing as the rows have it: a fresh nonce, ciphertext and tag, as one base64url text. Knows no row.
import type { Digest, Entropy, VaultCipher } from '../../kernel/ports.ts';
import { decodeBase64url, encodeBase64url } from '../../lib/base64url.ts';

export interface VaultTools {
  readonly cipher: VaultCipher;
  readonly entropy: Entropy;
  readonly digest: Digest;
}

const nonceBytes = 12;

export function sealText({ cipher, entropy }: VaultTools, key: Uint8Array, bound: Uint8Array, plain: Uint8Array): string {
  const nonce = entropy.bytes(nonceBytes);
  const sealed = cipher.seal(key, nonce, bound, plain);
  const bytes = new Uint8Array(nonce.length + sealed.length);
  bytes.set(nonce);
  bytes.set(sealed, nonce.length);
  return encodeBase64url(bytes);
}

/** `undefined` for whatever is not the one spelling of something sealed with this key for this place. */
export function openText({ cipher }: VaultTools, key: Uint8Array, bound: Uint8Array, text: string): Uint8Array | undefined {
  const bytes = decodeBase64url(text);
  if (bytes === undefined || bytes.length < nonceBytes) return undefined;
  return cipher.open(key, bytes.subarray(0, nonceBytes), bound, bytes.subarray(nonceBytes));
}
