// What a value may be, and how it is padded so that its length stays inside. Never repeats a value in words.
import { badValue } from './refusals.ts';
import { maxValueBytes, sizeClasses, type SizeClass } from './model.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const headBytes = 4;

/**
 * Throws `vault.bad_value` (kind invalid) unless it is 1 to 65,536 bytes of UTF-8 without NUL, and not blank. Line breaks are allowed:
 * private keys have them; whoever injects into a place of one line checks that there.
 */
export function assertValue(value: Uint8Array): void {
  if (value.length === 0) throw badValue('it is empty', 'Type or pipe the value itself.');
  if (value.length > maxValueBytes) throw badValue(`it is longer than ${maxValueBytes} bytes`, 'Keep larger things in files.');
  if (value.includes(0)) throw badValue('it holds a NUL byte', 'No header and no environment can carry one; encode it first.');
  let text: string;
  try {
    text = decoder.decode(value);
  } catch {
    throw badValue('it is not UTF-8', 'Encode it first, for example with: base64');
  }
  if (text.trim() === '') throw badValue('it is blank', 'Type or pipe the value itself.');
}

/** The smallest class the length fits in; `length` is at most `maxValueBytes`. */
export function sizeClassOf(length: number): SizeClass {
  return sizeClasses.find((size) => length <= size) ?? maxValueBytes;
}

export function sizeWords(size: SizeClass): string {
  return `up to ${size} bytes`;
}

/** Four bytes of length (big-endian), the value, zeros up to its class. */
export function pad(value: Uint8Array): Uint8Array {
  const padded = new Uint8Array(headBytes + sizeClassOf(value.length));
  new DataView(padded.buffer).setUint32(0, value.length);
  padded.set(value, headBytes);
  return padded;
}

/** A copy of the value; `undefined` for anything `pad` does not write. */
export function unpad(padded: Uint8Array): Uint8Array | undefined {
  if (padded.length < headBytes) return undefined;
  const length = new DataView(padded.buffer, padded.byteOffset, headBytes).getUint32(0);
  if (length > maxValueBytes || padded.length !== headBytes + sizeClassOf(length)) return undefined;
  if (padded.subarray(headBytes + length).some((byte) => byte !== 0)) return undefined;
  // Not `slice`, which on some bytes of the runtime is a view of the same memory.
  return new Uint8Array(padded.subarray(headBytes, headBytes + length));
}
