// The face of the operator slice: who may decide, and the proof that somebody did. Holds public keys only.
import type { Proof } from '../../kernel/caller.ts';
import type { Statement } from '../../kernel/dispatch.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { OperatorKey } from './model.ts';

/** A verified, now consumed proof: put `facts` into the audit record of what was decided. */
export interface VerifiedProof {
  readonly keyId: string;
  readonly statement: Statement;
  /** `{key_id, method, statement_sha256, signature}`, so that the record alone proves the decision. */
  readonly facts: JsonObject;
}

export interface Operator {
  /** This installation's id, random, made with the home. */
  readonly installation: string;
  key(): OperatorKey | undefined;
  /** A fresh statement with a single-use challenge that lives 5 minutes; at most 256 are open. Throws `operator.absent`. */
  prepare(operation: string, input: JsonObject, shown: JsonObject): Statement;
  /**
   * Checks signature, challenge, expiry, operation and input, consumes the challenge whatever the result, and returns the
   * statement that was signed. Every failure is `operator.proof_invalid` with one sentence; the reason goes to the record.
   */
  verify(operation: string, input: JsonObject, proof: Proof): VerifiedProof;
}
