// The seat and its proofs, tried as an impostor would: every field changed, every statement twice, every key but the right one.
import * as fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { createDigest, createEntropy, createVerifier, signerFromSeed } from '../../platform/crypto.ts';
import { describeDatabases } from '../../../test/support/databases.ts';
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts';
import { createPlainAudit, type PlainAudit } from '../../../test/support/plain-audit.ts';
import { decodeBase64url, encodeBase64url, encodeHex } from '../../lib/base64url.ts';
import type { Proof, ProofMethod } from '../../kernel/caller.ts';
import type { Database } from '../../kernel/database.ts';
import type { Statement } from '../../kernel/dispatch.ts';
import type { AppError } from '../../kernel/errors.ts';
import type { Signer } from '../../kernel/ports.ts';
import { mostOpen } from './challenges.ts';
import { loadInstallation } from './installation.ts';
import { possessionInput, signingInput, statementLifeMs, statementText } from './model.ts';
import { operatorOperations } from './operations.ts';
import { createOperator, type OperatorSeat } from './operator.ts';
import { operatorMigrations } from './store.ts';

const signer = signerFromSeed(new Uint8Array(32).fill(7));
const impostor = signerFromSeed(new Uint8Array(32).fill(8));
const publicKeyOf = (key: Signer): string => encodeBase64url(key.publicKey);

const input = { id: 'a1', ttl: '5m' };
const shown = { agent: 'kimi', capability: 'aws:deploy:prod', args: { to: 'prod', n: 1 } };

async function seat(db: Database, clock: FakeClock, audit: PlainAudit): Promise<OperatorSeat> {
  const entropy = createEntropy();
  const installation = await loadInstallation(db, entropy);
  return createOperator({ db, audit, clock, entropy, digest: createDigest(), verifier: createVerifier(), installation });
}

function sign(statement: Statement, key: Signer, keyId: string, method: ProofMethod = 'passphrase'): Proof {
  return {
    challenge: statement.challenge,
    method,
    keyId,
    signature: encodeBase64url(key.sign(signingInput(createDigest().sha256(statementText(statement)), method))),
  };
}

function refusalOf(attempt: () => unknown): AppError {
  try {
    attempt();
  } catch (thrown) {
    return thrown as AppError;
  }
  throw new Error('it was not refused');
}

describeDatabases('the operator store', (open) => {
  test('[STORE-1] the installation id is made once, kept, and the same for concurrent first boots', async () => {
    const db = await open();
    await db.migrate(operatorMigrations);
    const entropy = createEntropy();
    const ids = await Promise.all([loadInstallation(db, entropy), loadInstallation(db, entropy), loadInstallation(db, entropy)]);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    await db.close();
    const again = await open(db.url);
    await again.migrate(operatorMigrations);
    expect(await loadInstallation(again, entropy)).toBe(ids[0]);
  });

  test('[STORE-1] an operator survives a restart and keeps the seat', async () => {
    const db = await open();
    await db.migrate(operatorMigrations);
    const clock = createFakeClock();
    const made = await (await seat(db, clock, createPlainAudit(db))).create(publicKeyOf(signer));
    await db.close();
    const again = await open(db.url);
    const operator = await seat(again, clock, createPlainAudit(again));
    expect(operator.key()).toEqual(made);
    await expect(operator.create(publicKeyOf(impostor))).rejects.toMatchObject({ kind: 'conflict', code: 'operator.exists' });
    expect(operator.key()).toEqual(made);
  });

  test('[STORE-1] of two who take the seat at once exactly one gets it, on the record once', async () => {
    const db = await open();
    await db.migrate(operatorMigrations);
    const audit = createPlainAudit(db);
    const operator = await seat(db, createFakeClock(), audit);
    const created: string[] = [];
    operator.onCreated(({ publicKey }) => created.push(publicKey));
    const tries = await Promise.allSettled([operator.create(publicKeyOf(signer)), operator.create(publicKeyOf(impostor))]);
    expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(audit.of('operator.created')).toHaveLength(1);
    expect(audit.of('operator.refused').map(({ facts }) => facts?.['reason'])).toEqual(['seat_taken']);
    expect(created).toEqual([operator.key()?.publicKey]);
    expect(audit.of('operator.created')[0]?.facts).toEqual({
      key_id: operator.key()?.keyId,
      public_key: operator.key()?.publicKey,
    });
    expect(audit.decisions()).toBe(1);
  });

  test('nobody becomes operator while nothing can be recorded', async () => {
    const db = await open();
    await db.migrate(operatorMigrations);
    const audit = createPlainAudit(db);
    const operator = await seat(db, createFakeClock(), audit);
    audit.fail(true);
    await expect(operator.create(publicKeyOf(signer))).rejects.toMatchObject({ code: 'audit.unavailable' });
    expect(operator.key()).toBeUndefined();
    audit.fail(false);
    await expect(operator.create(publicKeyOf(signer))).resolves.toBeDefined();
  });

  test('an unreadable operator or installation is locked state, not an empty seat', async () => {
    for (const damage of [{ public_key: 'AAAA' }, { key_id: '0123456789abcdef' }, { created_at: 'yesterday' }]) {
      const db = await open();
      await db.migrate(operatorMigrations);
      await (await seat(db, createFakeClock(), createPlainAudit(db))).create(publicKeyOf(signer));
      await db.queries.updateTable('operator_key').set(damage).execute();
      await expect(seat(db, createFakeClock(), createPlainAudit(db))).rejects.toMatchObject({ code: 'operator.locked' });
      await db.queries.updateTable('operator_installation').set({ installation: 'elsewhere' }).execute();
      await expect(loadInstallation(db, createEntropy())).rejects.toMatchObject({ code: 'operator.locked' });
    }
  });
});

describeDatabases('a proof', (open) => {
  let clock: FakeClock;
  let audit: PlainAudit;
  let operator: OperatorSeat;
  let keyId: string;

  beforeEach(async () => {
    const db = await open();
    await db.migrate(operatorMigrations);
    clock = createFakeClock();
    audit = createPlainAudit(db);
    operator = await seat(db, clock, audit);
    ({ keyId } = await operator.create(publicKeyOf(signer)));
  });

  const prepare = (): Statement => operator.prepare('approvals.approve', input, shown);
  const verify = (proof: Proof, operation = 'approvals.approve', given: object = input) =>
    operator.verify(operation, given as typeof input, proof);
  const reasons = () => audit.of('operator.refused').map(({ facts }) => facts?.['reason']);

  test('[OPER-1] verifies for the operation, input and facts that were shown, and is evidence of them', () => {
    const statement = prepare();
    const proof = sign(statement, signer, keyId);
    const verified = verify(proof, 'approvals.approve', { ttl: '5m', id: 'a1' });
    expect(verified.statement).toEqual(statement);
    expect(verified.statement).toMatchObject({ installation: operator.installation, operation: 'approvals.approve', input, shown });
    expect(verified.facts).toEqual({
      key_id: keyId,
      method: 'passphrase',
      statement_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      signature: proof.signature,
    });
    expect(audit.of('operator.refused')).toEqual([]);
  });

  test('[OPER-4] a signature made from a passphrase file is marked, and the mark cannot be taken off', () => {
    const statement = prepare();
    expect(verify(sign(statement, signer, keyId, 'passphrase_file')).facts['method']).toBe('passphrase_file');
    const other = sign(prepare(), signer, keyId, 'passphrase_file');
    expect(refusalOf(() => verify({ ...other, method: 'passphrase' })).code).toBe('operator.proof_invalid');
  });

  test('[OPER-1] any change of any field between signing and verifying is refused', () => {
    const statement = prepare();
    const changes: Partial<Record<keyof Statement, unknown>>[] = [
      { v: 2 },
      { purpose: 'something else' },
      { installation: '00000000-0000-4000-8000-000000000000' },
      { operation: 'agents.add' },
      { input: { ...input, ttl: '6m' } },
      { input: { ...input, more: true } },
      { shown: { ...shown, args: { to: 'prod', n: 2 } } },
      { shown: {} },
      { issuedAt: new Date(clock.now() + 1).toISOString() },
      { expiresAt: new Date(clock.now() + 10 * statementLifeMs).toISOString() },
      { challenge: encodeBase64url(new Uint8Array(32)) },
    ];
    expect(new Set(changes.flatMap(Object.keys))).toEqual(new Set(Object.keys(statement)));
    for (const change of changes) {
      const fresh = prepare();
      const forged = { ...fresh, ...change } as Statement;
      const proof = { ...sign(forged, signer, keyId), challenge: fresh.challenge };
      expect(refusalOf(() => verify(proof)).code).toBe('operator.proof_invalid');
    }
    expect(reasons()).toEqual(changes.map(() => 'bad_signature'));
  });

  test('[OPER-1] a signature for one operation or input does nothing for another', () => {
    expect(refusalOf(() => verify(sign(prepare(), signer, keyId), 'agents.add')).kind).toBe('denied');
    expect(refusalOf(() => verify(sign(prepare(), signer, keyId), 'approvals.approve', { id: 'a2', ttl: '5m' })).kind).toBe(
      'denied',
    );
    expect(reasons()).toEqual(['other_operation', 'other_input']);
  });

  test('[OPER-1] a caller that changes the statement it was given changes nothing here', () => {
    const given = { ...input };
    const statement = operator.prepare('approvals.approve', given, shown);
    given.id = 'a2';
    (statement.shown as { agent: string }).agent = 'someone else';
    expect(refusalOf(() => verify(sign(statement, signer, keyId))).code).toBe('operator.proof_invalid');
    expect(reasons()).toEqual(['bad_signature']);
  });

  test('[OPER-2] a challenge is used once: a replay is refused and recorded as one', () => {
    const proof = sign(prepare(), signer, keyId);
    verify(proof);
    expect(refusalOf(() => verify(proof)).code).toBe('operator.proof_invalid');
    expect(audit.of('operator.refused')).toEqual([
      { event: 'operator.refused', actor: 'local', facts: { operation: 'approvals.approve', reason: 'replayed' } },
    ]);
  });

  test('[OPER-2] a failed try consumes the challenge too', () => {
    const statement = prepare();
    const proof = sign(statement, signer, keyId);
    refusalOf(() => verify({ ...proof, signature: encodeBase64url(new Uint8Array(64)) }));
    refusalOf(() => verify(proof));
    expect(reasons()).toEqual(['bad_signature', 'replayed']);
  });

  test('[OPER-2] a restart makes every open challenge void', async () => {
    const db = await open();
    await db.migrate(operatorMigrations);
    audit = createPlainAudit(db);
    const before = await seat(db, clock, audit);
    await before.create(publicKeyOf(signer));
    const proof = sign(before.prepare('approvals.approve', input, shown), signer, keyId);
    const after = await seat(db, clock, audit);
    expect(refusalOf(() => after.verify('approvals.approve', input, proof)).code).toBe('operator.proof_invalid');
    expect(reasons()).toEqual(['unknown_challenge']);
  });

  test('a statement can be signed for five minutes, not longer', () => {
    const early = sign(prepare(), signer, keyId);
    clock.advance(statementLifeMs - 1);
    verify(early);
    const late = sign(prepare(), signer, keyId);
    clock.advance(statementLifeMs);
    refusalOf(() => verify(late));
    expect(reasons()).toEqual(['expired']);
  });

  test('another key, a key id of its own, and garbage are refused with the same one sentence', () => {
    const attempts = [
      () => verify(sign(prepare(), impostor, keyId)),
      () => verify(sign(prepare(), impostor, '0011223344556677')),
      () => verify({ ...sign(prepare(), signer, keyId), signature: '' }),
      () => verify({ ...sign(prepare(), signer, keyId), signature: 'not base64url!' }),
      () => verify({ ...sign(prepare(), signer, keyId), method: 'passkey' as ProofMethod }),
      () => verify({ ...sign(prepare(), signer, keyId), challenge: 'guessed' }),
    ];
    const refusals = attempts.map(refusalOf);
    expect(new Set(refusals.map(({ message, hint, data }) => JSON.stringify([message, hint, data]))).size).toBe(1);
    expect(reasons()).toEqual(['bad_signature', 'foreign_key', 'malformed', 'malformed', 'malformed', 'unknown_challenge']);
  });

  test(`at most ${mostOpen} statements are open: the oldest gives way, the newest stand`, () => {
    const statements = Array.from({ length: mostOpen + 1 }, prepare);
    const [first, second] = statements as [Statement, Statement];
    refusalOf(() => verify(sign(first, signer, keyId)));
    verify(sign(second, signer, keyId));
    verify(sign(statements.at(-1) ?? first, signer, keyId));
    expect(reasons()).toEqual(['unknown_challenge']);
  });

  test('without an operator nothing can be prepared and nothing verifies', async () => {
    const db = await open();
    await db.migrate(operatorMigrations);
    const empty = await seat(db, clock, audit);
    expect(refusalOf(() => empty.prepare('approvals.approve', input, shown))).toMatchObject({ code: 'operator.absent' });
    const proof = sign(prepare(), signer, keyId);
    expect(refusalOf(() => empty.verify('approvals.approve', input, proof)).code).toBe('operator.proof_invalid');
    expect(reasons()).toEqual(['no_operator']);
  });

  test('[OPER-1] what was signed is kept word for word, and the record’s hash and signature prove it', async () => {
    const verified = verify(sign(prepare(), signer, keyId));
    await operator.keep(verified);
    await operator.keep(verified);
    const text = (await operator.statement(verified.statementSha256)) ?? '';
    expect(JSON.parse(text)).toEqual(verified.statement);
    const { statement_sha256: hash, signature, method } = verified.facts as Record<string, string>;
    expect(encodeHex(createDigest().sha256(text))).toBe(hash);
    const signed = `sallyport operator signature v1\n${method}\n${hash}\n`;
    const raw = decodeBase64url(signature ?? '') ?? new Uint8Array();
    expect(createVerifier().verify(signer.publicKey, new TextEncoder().encode(signed), raw)).toBe(true);
    expect(await operator.statement('0'.repeat(64))).toBeUndefined();
  });

  test('[OPER-1] no bit of a signature can be flipped', () => {
    fc.assert(
      fc.property(fc.nat(63), fc.nat(7), (byte, bit) => {
        const statement = prepare();
        const signature = Uint8Array.from(signer.sign(signingInput(createDigest().sha256(statementText(statement)), 'passphrase')));
        signature[byte] = (signature[byte] ?? 0) ^ (1 << bit);
        const proof = { ...sign(statement, signer, keyId), signature: encodeBase64url(signature) };
        expect(refusalOf(() => verify(proof)).code).toBe('operator.proof_invalid');
      }),
      { numRuns: 60 },
    );
  });

  describe('operations', () => {
    const run = (name: string, given: unknown) => {
      const operation = operatorOperations({ operator, verifier: createVerifier() }).find((one) => one.name === name);
      return operation?.run(operation.input.parse(given), {
        caller: { kind: 'local' },
        signal: new AbortController().signal,
        canProgress: false,
        progress: () => undefined,
      });
    };

    test('operator.status says who decides', async () => {
      expect(await run('operator.status', {})).toEqual({
        installation: operator.installation,
        exists: true,
        key_id: keyId,
        public_key: publicKeyOf(signer),
        created_at: operator.key()?.createdAt,
      });
    });

    test('operator.create wants a key that signed for itself and this installation', async () => {
      const db = await open();
      await db.migrate(operatorMigrations);
      operator = await seat(db, clock, createPlainAudit(db));
      const possession = (installation: string, key: Signer) =>
        encodeBase64url(key.sign(possessionInput(installation, publicKeyOf(signer))));
      const publicKey = publicKeyOf(signer);
      for (const bad of [possession('another', signer), possession(operator.installation, impostor)]) {
        await expect(run('operator.create', { publicKey, possession: bad })).rejects.toMatchObject({
          kind: 'invalid',
          code: 'operator.possession_invalid',
        });
      }
      expect(operator.key()).toBeUndefined();
      const good = possession(operator.installation, signer);
      expect(await run('operator.create', { publicKey, possession: good })).toEqual({
        key_id: keyId,
        created_at: expect.any(String),
      });
      await expect(run('operator.create', { publicKey, possession: good })).rejects.toMatchObject({ code: 'operator.exists' });
    });
  });
});
