// The recovery code: 140 random bits and 20 bits of check as 32 characters in groups of four, in Crockford's base 32 (no I, L, O, U).
// Made and read where a person sees it; the daemon gets only the secret it stands for, and never the code.
import { AppError } from '../../kernel/errors.ts';
import type { Digest, Entropy } from '../../kernel/ports.ts';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const bodyLength = 28;
const checkLength = 4;
const groupLength = 4;
const encoder = new TextEncoder();

/** `XXXX-XXXX-…`, eight groups. */
export function newRecoveryCode(entropy: Entropy, digest: Digest): string {
  // 256 is a multiple of 32, so every character is equally likely.
  const body = Array.from(entropy.bytes(bodyLength), (byte) => alphabet[byte & 31]).join('');
  return grouped(body + checkOf(digest, body));
}

export function recoveryGroups(code: string): readonly string[] {
  return code.split('-');
}

/**
 * The secret of the slot, from a code as people type it: any case, blanks and dashes anywhere, O for 0, I and L for 1. Throws
 * `vault.bad_code` (kind invalid) when it is no code at all, which is a slip of the pen and not a wrong code.
 */
export function recoverySecret(typed: string, digest: Digest): Uint8Array {
  const code = typed.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  if (code.length !== bodyLength + checkLength) {
    throw mistyped(`it has ${bodyLength + checkLength} characters, and this has ${code.length}`);
  }
  if (Array.from(code).some((character) => !alphabet.includes(character))) throw mistyped('it holds a character that no code has');
  const body = code.slice(0, bodyLength);
  if (checkOf(digest, body) !== code.slice(bodyLength)) throw mistyped('its last group does not fit the others');
  return encoder.encode(body);
}

function checkOf(digest: Digest, body: string): string {
  const hash = digest.sha256(`sallyport recovery code v1\n${body}`);
  return Array.from(hash.subarray(0, checkLength), (byte) => alphabet[byte & 31]).join('');
}

function grouped(code: string): string {
  return (code.match(new RegExp(`.{${groupLength}}`, 'g')) ?? []).join('-');
}

function mistyped(why: string): AppError {
  return new AppError('invalid', 'vault.bad_code', `This is not a recovery code: ${why}.`, {
    hint: 'Compare it with the paper, group by group.',
  });
}
