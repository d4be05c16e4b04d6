// Bytes as lower-case hexadecimal text (RFC 4648 §8, in small letters), on every floor.

export function hex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}
