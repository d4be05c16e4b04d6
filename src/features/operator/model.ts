// The operator's nouns: key, statement, proof, and the exact bytes that are signed. Pure; the CLI imports it to sign.
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
  | 'operator.locked'; // key files or rows unreadable

/** Public half, as the daemon holds it. */
export interface OperatorKey {
  /** First 16 hex digits of SHA-256 of the raw public key. */
  readonly keyId: string;
  /** base64url, 32 bytes. */
  readonly publicKey: string;
  readonly createdAt: string;
}

/** The bytes under an operator signature: a domain line, then canonical JSON (RFC 8785) of statement and method. */
export function signingInput(statement: Statement, method: ProofMethod): Uint8Array {
  return new TextEncoder().encode(`sallyport operator signature v1\n${canonicalJson({ method, statement } as unknown as Json)}`);
}
