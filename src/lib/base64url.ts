// base64url without padding (RFC 4648 §5) over bytes, in plain JavaScript, so that every floor and the browser can use it.

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const values = new Map(Array.from(alphabet, (character, value) => [character, value]));

export function encodeBase64url(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0x3fff;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += alphabet[(held >> bits) & 63];
    }
  }
  return bits > 0 ? text + alphabet[(held << (6 - bits)) & 63] : text;
}

/**
 * The bytes of exactly one spelling: `undefined` for padding, foreign characters, an impossible length, or unused bits that are
 * not zero, so that one signature or key never has two texts.
 */
export function decodeBase64url(text: string): Uint8Array | undefined {
  if (text.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((text.length * 6) / 8));
  let at = 0;
  let bits = 0;
  let held = 0;
  for (const character of text) {
    const value = values.get(character);
    if (value === undefined) return undefined;
    held = ((held << 6) | value) & 0x3fff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (held >> bits) & 255;
    }
  }
  return (held & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}

const hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Lower-case hexadecimal. */
export function encodeHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += hexPairs[byte];
  return text;
}
