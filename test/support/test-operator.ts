// An operator for tests: a key in memory that signs statements as the command line does.
import { randomBytes } from 'node:crypto';
import { signingInput, statementText } from '../../src/features/operator/model.ts';
import type { Proof, ProofMethod } from '../../src/kernel/caller.ts';
import type { Statement } from '../../src/kernel/dispatch.ts';
import { encodeBase64url } from '../../src/lib/base64url.ts';
import { createDigest, signerFromSeed } from '../../src/platform/crypto.ts';
import { keyIdOf } from '../../src/platform/operator-key-format.ts';

export interface TestOperator {
  readonly publicKey: string;
  readonly keyId: string;
  signBytes(bytes: Uint8Array): Uint8Array;
  prove(statement: Statement, method?: ProofMethod): Proof;
}

export function createTestOperator(): TestOperator {
  const signer = signerFromSeed(randomBytes(32));
  const keyId = keyIdOf(signer.publicKey);
  return {
    publicKey: encodeBase64url(signer.publicKey),
    keyId,
    signBytes: (bytes) => signer.sign(bytes),
    prove: (statement, method = 'passphrase') => ({
      challenge: statement.challenge,
      method,
      keyId,
      signature: encodeBase64url(signer.sign(signingInput(createDigest().sha256(statementText(statement)), method))),
    }),
  };
}
