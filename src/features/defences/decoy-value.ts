// Values that look like tokens of their kind and open nothing. Random beyond what every real one has in common.
import type { Entropy } from '../../kernel/ports.ts';
import { encodeBase64url } from '../../lib/base64url.ts';
import type { DecoyKind } from './model.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function decoyValue(kind: DecoyKind, entropy: Entropy): string {
  if (kind === 'aws') return `AKIA${drawn(base32, 16, entropy)}`;
  if (kind === 'github') {
    const random = drawn(base62, 30, entropy);
    return `ghp_${random}${checksum(random)}`;
  }
  return encodeBase64url(entropy.bytes(32));
}

/** Without favour for any character: bytes beyond the last whole round are drawn again. */
function drawn(alphabet: string, length: number, entropy: Entropy): string {
  const whole = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length) {
    for (const byte of entropy.bytes(length)) if (byte < whole && text.length < length) text += alphabet[byte % alphabet.length];
  }
  return text;
}

/** Tokens of GitHub end in the CRC-32 of what is random in them, six digits of base 62: a thief checks that before using one. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let at = 0; at < text.length; at += 1) {
    crc ^= text.charCodeAt(at);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let digits = '';
  for (; digits.length < 6; rest = Math.floor(rest / 62)) digits = `${base62[rest % 62]}${digits}`;
  return digits;
}
