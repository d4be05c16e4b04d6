// The operator's nouns: key, statement, proof, and the exact bytes that are signed. Pure; the CLI imports it to sign.
import { encodeHex } from '../../lib/base64url.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { ProofMethod } from '../../kernel/caller.ts';
import type { Statement } from '../../kernel/dispatch.ts';
import type { Json } from '../../kernel/json.ts';

export type OperatorErrorCode =
  | 'operator.absent' // no operator yet: nothing can be decided
  | 'operator.exists'
  | 'operator.proof_required'
  | 'operator.proof_invalid' // unknown key, bad signature, replayed, expired or foreign challenge: one sentence for all
  | 'operator.changed' // what was shown is no longer true
  | 'operator.locked' // key files or rows unreadable
  | 'operator.no_statement' // nothing with this hash was signed here
  | 'operator.possession_invalid' // the new key did not sign for itself
  | 'operator.key_missing' // no key file where one was expected
  | 'operator.wrong_passphrase'
  | 'operator.weak_passphrase'
  | 'operator.unsafe_file'; // a key or passphrase file others could read or have written

/** Why a proof was refused: for the record only, never for the one who brought it. */
export type ProofRefusal =
  | 'no_operator'
  | 'malformed'
  | 'replayed'
  | 'unknown_challenge'
  | 'expired'
  | 'foreign_key'
  | 'other_operation'
  | 'other_input'
  | 'bad_signature';

/** Public half, as the daemon holds it. */
export interface OperatorKey {
  /** First 16 hex digits of SHA-256 of the raw public key. */
  readonly keyId: string;
  /** base64url, 32 bytes. */
  readonly publicKey: string;
  readonly createdAt: string;
}

/** How long a statement may be signed, in milliseconds. */
export const statementLifeMs = 5 * 60_000;

const encoder = new TextEncoder();

/** The one text of a statement: canonical JSON (RFC 8785). Its SHA-256 stands for it on the record. */
export function statementText(statement: Statement): string {
  return canonicalJson(statement as unknown as Json);
}

/**
 * The bytes under an operator signature: a domain line, the method, and the SHA-256 of `statementText`. Over the hash, so that the
 * record alone proves that the operator signed, and the kept statement proves what.
 */
export function signingInput(statementSha256: Uint8Array, method: ProofMethod): Uint8Array {
  return encoder.encode(`sallyport operator signature v1\n${method}\n${encodeHex(statementSha256)}\n`);
}

/** The bytes a new key signs to show that its private half exists; the domain line keeps them from being a decision. */
export function possessionInput(installation: string, publicKey: string): Uint8Array {
  return encoder.encode(`sallyport operator possession v1\n${canonicalJson({ installation, publicKey })}`);
}
