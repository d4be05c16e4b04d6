// The whole way of a decision on the real record: asked, shown, signed, checked, done, and tried again by those who may not.
import { beforeEach, expect, test } from 'vitest';
import { createAuditHome, type AuditHome } from '../../../test/support/audit-home.ts';
import { callQuestion, minute, requestQuestion } from '../../../test/support/approval-desk.ts';
import { describeDatabases } from '../../../test/support/databases.ts';
import type { Caller, Proof } from '../../kernel/caller.ts';
import type { Statement } from '../../kernel/dispatch.ts';
import { encodeBase64url, encodeHex } from '../../lib/base64url.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { Json } from '../../kernel/json.ts';
import { createDigest, createEntropy, createVerifier, signerFromSeed } from '../../platform/crypto.ts';
import { createOperations, type OwnOperations } from '../gateway/run-operation.ts';
import { createGrants, type Grants } from '../grants/grants.ts';
import { grantMigrations } from '../grants/store.ts';
import { createOperator, type OperatorSeat } from '../operator/operator.ts';
import { loadInstallation } from '../operator/installation.ts';
import { signingInput, statementText } from '../operator/model.ts';
import { operatorMigrations } from '../operator/store.ts';
import { createApprovals, type Approvals } from './approvals.ts';
import { approvalOperations } from './operations.ts';
import { approvalMigrations } from './store.ts';

const signer = signerFromSeed(new Uint8Array(32).fill(1));
const impostor = signerFromSeed(new Uint8Array(32).fill(2));
const never = new AbortController().signal;
const secret = 'hunter2-in-the-arguments';

describeDatabases('a signed decision', (open) => {
  let home: AuditHome;
  let operator: OperatorSeat;
  let grants: Grants;
  let approvals: Approvals;
  let doors: OwnOperations;
  let policy: string;

  beforeEach(async () => {
    const db = await open();
    home = await createAuditHome(db, [...operatorMigrations, ...grantMigrations, ...approvalMigrations]);
    const audit = await home.start();
    const { clock } = home;
    const [entropy, digest, verifier] = [createEntropy(), createDigest(), createVerifier()];
    policy = 'v1';
    const installation = await loadInstallation(db, entropy);
    operator = await createOperator({ db, audit, clock, entropy, digest, verifier, installation });
    await operator.create(encodeBase64url(signer.publicKey));
    grants = await createGrants({ db, audit, clock, entropy, covers: (outer, inner) => outer === inner });
    const made = await createApprovals({
      db,
      audit,
      clock,
      entropy,
      digest,
      grants,
      limits: () => ({ approvalTtlMs: 10 * minute }),
      policyVersion: () => policy,
      stillAsks: () => undefined,
    });
    approvals = made;
    doors = createOperations({ operations: approvalOperations({ approvals: made }), audit, operator, digest });
  });

  const prepare = (input: object, name = 'approvals.approve') => doors.prepare({ kind: 'local' }, name, input, never);
  const signed = (statement: Statement, key = signer): Proof => {
    const keyId = operator.key()?.keyId ?? '';
    const signature = encodeBase64url(key.sign(signingInput(createDigest().sha256(statementText(statement)), 'passphrase')));
    return { challenge: statement.challenge, method: 'passphrase', keyId, signature };
  };
  const operate = (proof: Proof, input: object, name = 'approvals.approve') =>
    doors.operate({ kind: 'operator', proof }, name, input, never);
  const events = async () => (await home.records()).map(({ event }) => event);

  test('[APPR-2] approves one call, is on the record with its proof and without an argument, and is spent once', async () => {
    const question = { ...callQuestion, args: { password: secret } };
    const { id } = await approvals.ask(question);
    const statement = await prepare({ id });
    expect(statement.shown).toMatchObject({ arguments: { password: secret }, tool_definition: 'h1', policy_version: 'v1' });
    const proof = signed(statement);
    expect(await operate(proof, { id })).toMatchObject({ approval_id: id, state: 'approved' });

    const call = { agent: 'kimi', capability: question.capability, args: question.args, toolHash: 'h1' };
    expect(await approvals.spend(call)).toMatchObject({ id });
    expect(await approvals.spend(call)).toBeUndefined();

    const records = await home.records();
    expect(records.map(({ event }) => event)).toEqual([
      'log.opened',
      'operator.created',
      'approval.requested',
      'approval.approved',
      'approval.used',
    ]);
    expect(records[3]?.facts).toEqual({
      approval: id,
      agent: 'kimi',
      capability: 'aws:call:deploy',
      origin: 'call',
      tool_hash: 'h1',
      ttl_ms: 15 * minute,
      policy: 'v1',
      proof: {
        key_id: operator.key()?.keyId,
        method: 'passphrase',
        statement_sha256: encodeHex(createDigest().sha256(canonicalJson(statement as unknown as Json))),
        signature: proof.signature,
      },
    });
    expect(JSON.stringify(records)).not.toContain(secret);
  });

  test('[APPR-3] a signed request becomes a grant, decision and grant next to each other on the record', async () => {
    const { id } = await approvals.ask(requestQuestion);
    const input = { id, ttl: '5m' };
    await operate(signed(await prepare(input)), input);
    expect(grants.covering('kimi', 'aws:deploy:prod', 'human')).toMatchObject({ approvalId: id, ttlMs: 5 * minute });
    expect((await events()).slice(-2)).toEqual(['approval.approved', 'grant.issued']);
  });

  test('[APPR-4] a signed denial reaches the next question', async () => {
    const { id } = await approvals.ask(callQuestion);
    const input = { id, reason: 'no' };
    // The input is parsed before it is signed: defaults and trimming are what a person sees.
    await operate(signed(await prepare({ id, reason: ' no ' }, 'approvals.deny')), input, 'approvals.deny');
    await expect(approvals.ask(callQuestion)).rejects.toMatchObject({ code: 'approvals.denied', data: { reason: 'no' } });
  });

  test('[OPER-2] replayed, forged, borrowed or missing proofs decide nothing and are on the record', async () => {
    const { id } = await approvals.ask(callQuestion);
    const other = await approvals.ask(requestQuestion);
    const proof = signed(await prepare({ id: other.id }));
    await operate(proof, { id: other.id });

    const local: Caller = { kind: 'local' };
    const agent: Caller = { kind: 'agent', agent: 'kimi', session: 's' };
    const empty = await approvals.ask({ ...callQuestion, args: {} });
    const attempts = [
      () => operate(proof, { id: other.id }),
      () => operate(proof, { id }),
      async () => operate(signed(await prepare({ id }), impostor), { id }),
      async () => operate(signed(await prepare({ id: empty.id })), { id }),
      async () => operate(signed(await prepare({ id }, 'approvals.deny')), { id }),
      () => doors.operate(local, 'approvals.approve', { id }, never),
      () => doors.operate(agent, 'approvals.approve', { id }, never),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ kind: 'denied' });
    expect((await approvals.get(id))?.state).toBe('pending');
    const refusals = (await home.records()).filter(({ event }) => event.endsWith('.refused'));
    expect(refusals.map(({ event, facts }) => [event, facts?.['reason'] ?? facts?.['code']])).toEqual(
      expect.arrayContaining([
        ['operator.refused', 'replayed'],
        ['operator.refused', 'bad_signature'],
        ['operator.refused', 'other_input'],
        ['operator.refused', 'other_operation'],
        ['operation.refused', 'operator.proof_required'],
        ['operation.refused', 'gateway.not_reachable'],
      ]),
    );
  });

  test('[OPER-5] a policy that changed between showing and signing makes the signature worthless', async () => {
    const { id } = await approvals.ask(callQuestion);
    const proof = signed(await prepare({ id }));
    policy = 'v2';
    await expect(operate(proof, { id })).rejects.toMatchObject({ code: 'operator.changed' });
    expect((await approvals.get(id))?.state).toBe('pending');
    await operate(signed(await prepare({ id })), { id });
    expect((await approvals.get(id))?.policyVersion).toBe('v2');
  });
});
