// How the secret of a passphrase slot is made from what is typed: Argon2id (RFC 9106) with its parameters in the row. Below the floor
// nothing is derived: whoever weakened a row would otherwise be handed something cheap to guess from.
import { z } from 'zod';
import { decodeBase64url } from '../../lib/base64url.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';

const saltBytes = 16;

/** Version 1 never writes less than its floor; the ceiling keeps a planted row from eating the machine. */
const schema = z.strictObject({
  kdf: z.literal('argon2id'),
  memory_kib: z.int().min(65_536).max(1_048_576),
  passes: z.int().min(3).max(16),
  parallelism: z.int().min(1).max(8),
  salt: z.string().refine((text) => decodeBase64url(text)?.length === saltBytes, 'expected 16 bytes in base64url'),
});

export type PassphraseKdf = z.infer<typeof schema>;
export const kdfSchema = schema;

export function newKdf(saltText: string): PassphraseKdf {
  return { kdf: 'argon2id', memory_kib: 65_536, passes: 3, parallelism: 1, salt: saltText };
}

export function kdfText(kdf: PassphraseKdf): string {
  return canonicalJson(kdf);
}

/** `undefined` for what is no set of parameters, or one below the floor. */
export function readKdf(params: string): PassphraseKdf | undefined {
  try {
    return schema.parse(JSON.parse(params));
  } catch {
    return undefined;
  }
}
