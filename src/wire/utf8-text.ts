// Bytes that somebody sent as the text they are, or as nothing: never with a character in place of what is no UTF-8. Knows no message.
import { isAscii, isUtf8, type Buffer } from 'node:buffer';

/**
 * The text of `bytes`, which is a copy; `undefined` when they are not UTF-8. ASCII, as nearly everything is, is looked for first: it is
 * copied as it stands, for a quarter of what reading it as UTF-8 takes.
 */
export function readUtf8(bytes: Buffer): string | undefined {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}
