// A text of a request as an HTTP header carries it (MCP 2026-07-28, Streamable HTTP, "Value Encoding"): as it is where it is plain
// ASCII, in base64 between markers where it is not. Knows no header by name.
import { decodeBase64, encodeBase64 } from '../lib/base64.ts';

const prefix = '=?base64?';
const suffix = '?=';
/** RFC 9110 §5.5, as MCP narrows it: visible ASCII, with spaces and tabs inside but not at the ends. */
const plain = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;

export function encodeHeaderValue(text: string): string {
  return plain.test(text) && !isMarked(text) ? text : `${prefix}${encodeBase64(new TextEncoder().encode(text))}${suffix}`;
}

/** `undefined` for characters no such header may hold, and for markers around what is not the base64 of UTF-8. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!plain.test(value)) return undefined;
  if (!isMarked(value)) return value;
  const bytes = decodeBase64(value.slice(prefix.length, -suffix.length));
  if (bytes === undefined) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function isMarked(text: string): boolean {
  return text.length >= prefix.length + suffix.length && text.startsWith(prefix) && text.endsWith(suffix);
}
