// The ways in which programs write a value into other text: as it is, in base64 at each alignment, in hex, percent-encoded. Escapes of
// JSON are for whoever searches (escaped-text.ts). Finds nothing itself.
import { encodeBase64 } from './base64.ts';
import { unescaped } from './escaped-text.ts';

export interface Spelling {
  readonly text: string;
  /** The characters beside it hold some bits of the value as well. */
  readonly bleeds: boolean;
}

/** Each text once. The value must not be empty. */
export function spellingsOf(value: string): readonly Spelling[] {
  const bytes = new TextEncoder().encode(value);
  const plain = [value, unescaped(value, false).text, ...hexOf(bytes), ...percentOf(value)];
  const encoded = [0, 1, 2].flatMap((offset) => base64At(bytes, offset));
  const byText = new Map<string, Spelling>();
  for (const text of encoded) if (text !== '') byText.set(text, { text, bleeds: true });
  for (const text of plain) byText.set(text, { text, bleeds: false });
  return [...byText.values()];
}

/** What any encoding of these bytes holds where they begin `offset` bytes behind a multiple of three (RFC 4648 §4 and §5). */
function base64At(bytes: Uint8Array, offset: number): readonly string[] {
  const padded = new Uint8Array(offset + bytes.length);
  padded.set(bytes, offset);
  const whole = encodeBase64(padded).replace(/=+$/, '');
  // Characters that hold bits of what stands before or behind.
  const standard = whole.slice(offset === 0 ? 0 : offset + 1, padded.length % 3 === 0 ? undefined : -1);
  return [standard, standard.replaceAll('+', '-').replaceAll('/', '_')];
}

function hexOf(bytes: Uint8Array): readonly string[] {
  const lower = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [lower, lower.toUpperCase()];
}

/** RFC 3986 §2.1 in either case, with and without the marks that some encoders leave alone, and as forms write it. */
function percentOf(value: string): readonly string[] {
  const usual = encodeURIComponent(value.toWellFormed());
  const strict = usual.replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  const texts = [usual, strict, usual.replaceAll('%20', '+'), strict.replaceAll('%20', '+')];
  return texts.flatMap((text) => [text, text.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}
