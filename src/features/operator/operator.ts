// The face of the operator slice: who may decide, and the proof that somebody did. Holds public keys only.
import { decodeBase64url, encodeBase64url, encodeHex } from '../../lib/base64url.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { Proof } from '../../kernel/caller.ts';
import type { Database } from '../../kernel/database.ts';
import type { Statement } from '../../kernel/dispatch.ts';
import { AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Clock, Digest, Entropy, Unsubscribe, Verifier } from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import { createChallenges } from './challenges.ts';
import { signingInput, statementLifeMs, statementText, type OperatorKey, type ProofRefusal } from './model.ts';
import { insertOperator, insertStatement, readOperator, readStatement } from './store.ts';

/** A verified, now consumed proof: put `facts` into the audit record of what was decided. */
export interface VerifiedProof {
  readonly keyId: string;
  readonly statement: Statement;
  /** Hex SHA-256 of `statementText`. */
  readonly statementSha256: string;
  /** `{key_id, method, statement_sha256, signature}`, which together with the operator's public key proves that it was signed. */
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
  /** Keeps a verified statement, so that what was signed can be shown for as long as its record stands. Call before the effect. */
  keep(proof: VerifiedProof): Promise<void>;
  /** The text of a kept statement; `undefined` when there is none. Throws `operator.locked` when it is not the one of this hash. */
  statement(sha256: string): Promise<string | undefined>;
}

/** What only this slice's own operations and the composition root may use. */
export interface OperatorSeat extends Operator {
  /** Takes the seat for good, in one commit with its record. Throws `operator.exists` when it is taken, `invalid` for a bad key. */
  create(publicKeyBase64url: string): Promise<OperatorKey>;
  /** Calls back once the operator exists, after the commit. */
  onCreated(listener: (key: OperatorKey) => void): Unsubscribe;
}

export interface OperatorDeps {
  readonly db: Database;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly digest: Digest;
  readonly verifier: Verifier;
  readonly installation: string;
}

/** Rejects with `operator.locked` when the stored operator is unreadable: nobody could decide, and nobody may take the seat. */
export async function createOperator(deps: OperatorDeps): Promise<OperatorSeat> {
  const { db, audit, clock, entropy, digest, verifier, installation } = deps;
  const challenges = createChallenges();
  const listeners = new Set<(key: OperatorKey) => void>();
  let current = await loadOperator(db, digest);

  function refuse(operation: string, reason: ProofRefusal): never {
    audit.appendQuietly({ event: 'operator.refused', actor: 'local', facts: { operation, reason } });
    throw new AppError('denied', 'operator.proof_invalid', 'This is no valid signature of the operator for this decision.', {
      hint: 'Run the command again: it shows the decision anew and asks for the passphrase.',
    });
  }

  return {
    installation,
    key: () => current,

    prepare(operation, input, shown) {
      if (current === undefined) {
        throw new AppError('conflict', 'operator.absent', 'There is no operator yet, so nothing can be decided.', {
          hint: 'Create the operator key with: sallyport operator init.',
        });
      }
      const now = clock.now();
      const statement: Statement = {
        v: 1,
        purpose: 'sallyport/operator-statement',
        installation,
        operation,
        input: copy(input),
        shown: copy(shown),
        challenge: encodeBase64url(entropy.bytes(32)),
        issuedAt: new Date(now).toISOString(),
        expiresAt: new Date(now + statementLifeMs).toISOString(),
      };
      challenges.open(statement);
      // The caller gets a copy: what is checked later is what was made here.
      return copy(statement);
    },

    verify(operation, input, proof) {
      const statement = challenges.take(proof.challenge);
      if (current === undefined) return refuse(operation, 'no_operator');
      if (statement === undefined) return refuse(operation, 'unknown_challenge');
      if (statement === 'replayed') return refuse(operation, 'replayed');
      const { method, keyId } = proof;
      const signature = decodeBase64url(proof.signature);
      if (signature?.length !== 64 || (method !== 'passphrase' && method !== 'passphrase_file'))
        return refuse(operation, 'malformed');
      if (clock.now() >= Date.parse(statement.expiresAt)) return refuse(operation, 'expired');
      if (keyId !== current.keyId) return refuse(operation, 'foreign_key');
      if (statement.operation !== operation) return refuse(operation, 'other_operation');
      if (canonicalJson(statement.input) !== canonicalJson(input)) return refuse(operation, 'other_input');
      const publicKey = decodeBase64url(current.publicKey);
      const hash = digest.sha256(statementText(statement));
      if (publicKey === undefined || !verifier.verify(publicKey, signingInput(hash, method), signature)) {
        return refuse(operation, 'bad_signature');
      }
      const facts = { key_id: keyId, method, statement_sha256: encodeHex(hash), signature: proof.signature };
      return { keyId, statement, statementSha256: encodeHex(hash), facts };
    },

    keep: ({ statementSha256, statement }) => insertStatement(db, statementSha256, statementText(statement)),
    statement: async (sha256) => {
      const text = await readStatement(db, sha256);
      if (text === undefined || encodeHex(digest.sha256(text)) === sha256) return text;
      throw new AppError('unavailable', 'operator.locked', `The kept statement ${sha256} is not what was signed.`, {
        hint: 'Restore the database from a backup.',
      });
    },

    async create(publicKey) {
      const key = newKey(publicKey, digest, clock);
      await audit.commit(
        async (tx) => {
          if (!(await insertOperator(tx, key))) {
            const facts = { operation: 'operator.create', reason: 'seat_taken', key_id: key.keyId };
            audit.appendQuietly({ event: 'operator.refused', actor: 'local', facts });
            throw new AppError('conflict', 'operator.exists', 'This installation has its operator already.', {
              hint: 'Sign with the operator key that exists; there is one for each installation.',
            });
          }
          const facts = { key_id: key.keyId, public_key: key.publicKey };
          return { value: undefined, entries: [{ event: 'operator.created', actor: 'local', facts }] };
        },
        { decision: true },
      );
      current = key;
      for (const listener of listeners) listener(key);
      return key;
    },

    onCreated(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

async function loadOperator(db: Database, digest: Digest): Promise<OperatorKey | undefined> {
  const stored = await readOperator(db);
  if (stored === undefined) return undefined;
  const readable = keyIdOf(stored.publicKey, digest) === stored.keyId && !Number.isNaN(Date.parse(stored.createdAt));
  if (readable) return stored;
  throw new AppError('unavailable', 'operator.locked', 'The stored operator key is unreadable, so no decision can be checked.', {
    hint: 'Restore the database from a backup.',
  });
}

function newKey(publicKey: string, digest: Digest, clock: Clock): OperatorKey {
  const keyId = keyIdOf(publicKey, digest);
  if (keyId === undefined) {
    throw new AppError('invalid', 'operator.possession_invalid', 'A public key is 32 bytes of Ed25519 in base64url.');
  }
  return { keyId, publicKey, createdAt: new Date(clock.now()).toISOString() };
}

function keyIdOf(publicKey: string, digest: Digest): string | undefined {
  const bytes = decodeBase64url(publicKey);
  return bytes?.length === 32 ? encodeHex(digest.sha256(bytes)).slice(0, 16) : undefined;
}

function copy<T>(value: T): T {
  return structuredClone(value);
}
