// The queue on both databases: what is kept, what is refused, and what a restart, a full disk and a second decision do to it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeDatabases, type TestDatabase } from '../../../../test/support/databases.ts';
import { createFakeClock, type FakeClock } from '../../../../test/support/fake-clock.ts';
import { createFaultyFiles, type FaultyFiles } from '../../../../test/support/faulty-files.ts';
import { createPlainAudit, type PlainAudit } from '../../../../test/support/plain-audit.ts';
import { silentLog } from '../../../../test/support/silent-log.ts';
import { createDigest } from '../../../platform/crypto.ts';
import { createPolicy, type Policy, type PolicyAdmin } from '../policy.ts';
import { policyMigrations } from '../store.ts';
import { createProposals, type ProposalDesk } from './proposals.ts';

const digest = createDigest();
const text = `version: 1\nagents:\n  kimi:\n    capabilities:\n      - { match: 'a:b:*', effect: ask }\n`;
const proof = { method: 'passphrase' };

describeDatabases('the queue of proposals', (open) => {
  let home: string;
  let db: TestDatabase;
  let audit: PlainAudit;
  let files: FaultyFiles;
  let clock: FakeClock;
  let policy: Policy & PolicyAdmin;
  let desk: ProposalDesk;

  const boot = (): Promise<ProposalDesk> =>
    createProposals({ db, audit, files, path: join(home, 'policies.pending.yaml'), clock, digest, log: silentLog(), policy });

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'sallyport-proposals-'));
    writeFileSync(join(home, 'policies.yaml'), text);
    db = await open();
    await db.migrate(policyMigrations);
    audit = createPlainAudit(db);
    files = createFaultyFiles();
    clock = createFakeClock();
    const path = join(home, 'policies.yaml');
    policy = await createPolicy({ db, audit, files, path, clock, digest, log: silentLog(), hasOperator: () => true });
    await policy.adoptFirst();
    desk = await boot();
  });
  afterEach(() => {
    policy.close();
    rmSync(home, { recursive: true, force: true });
  });

  const propose = (match: string, more: { ttl?: string; justification?: string } = {}, agent = 'kimi') =>
    desk.propose(agent, { match, justification: 'why', ...more });
  const copy = (): string => readFileSync(desk.path, 'utf8');
  const inForce = (): string => {
    const { ground } = policy.standing();
    return ground.kind === 'adopted' ? ground.adopted.text : '';
  };

  test('[PROP-3] numbers are given in order and never again, also after a restart', async () => {
    await propose('x:y:1');
    await propose('x:y:2');
    await desk.reject(2, 'no', proof);
    desk = await boot();
    expect(await propose('x:y:3')).toMatchObject({ kind: 'queued', proposal: { n: 3 } });
    expect((await desk.list('pending')).map(({ n }) => n)).toEqual([1, 3]);
    expect((await desk.list('all')).map(({ n, state }) => [n, state])).toEqual([
      [3, 'pending'],
      [2, 'rejected'],
      [1, 'pending'],
    ]);
  });

  test('[PROP-3] the same agent, match and ttl is the same proposal, however the ttl is spelled, and however many come at once', async () => {
    const all = await Promise.all(['600s', '10m', '10m', '600s'].map((ttl) => propose('x:y:z', { ttl })));
    expect(all.map(({ kind }) => kind)).toEqual(['queued', 'deduped', 'deduped', 'deduped']);
    expect(await propose('x:y:z')).toMatchObject({ kind: 'queued' });
    expect(await propose('x:y:z', { ttl: '10m' }, 'bob')).toMatchObject({ kind: 'queued' });
    expect(audit.of('proposal.queued')).toHaveLength(3);
  });

  test('[PROP-2] any text an agent writes comes back as it was', async () => {
    const justification = 'a\u0000b\n---\n"\u001b[2J\u202e’ \\ 💸';
    await propose('x:y:z', { justification });
    expect((await desk.list('pending'))[0]).toMatchObject({ justification });
    expect(audit.entries.at(-1)?.facts).toEqual({ proposal: 1, agent: 'kimi' });
  });

  test('[PROP-3] fifty wait, at once too', async () => {
    const ends = await Promise.allSettled(Array.from({ length: 60 }, (_, at) => propose(`x:y:${at}`)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(50);
    await expect(propose('x:y:more')).rejects.toMatchObject({ kind: 'limited', code: 'policy.too_many_proposals' });
    expect(await desk.list('pending')).toHaveLength(50);
  });

  test('[PROP-2] what cannot be recorded is not proposed', async () => {
    audit.fail(true);
    await expect(propose('x:y:z')).rejects.toMatchObject({ code: 'audit.unavailable' });
    audit.fail(false);
    expect(await desk.list('all')).toEqual([]);
  });

  test('[PROP-4] a copy that could not be written follows at the next change or start', async () => {
    files.full = true;
    expect(await propose('x:y:1')).toMatchObject({ kind: 'queued' });
    files.full = false;
    await boot();
    expect(copy()).toContain('"x:y:1"');
    rmSync(desk.path);
    await propose('x:y:2');
    expect(copy()).toMatch(/"x:y:1"[\s\S]*"x:y:2"/);
    writeFileSync(desk.path, Buffer.from([0xff, 0xfe, 0x00]));
    await desk.reject(1, 'no', proof);
    expect(copy()).toMatch(/^# Rules that agents proposed[\s\S]*"x:y:2"/);
    expect(copy()).not.toContain('"x:y:1"');
  });

  test('[PROP-5] of many acceptances of one proposal one is in force, recorded once with the policy', async () => {
    await propose('x:y:z');
    const acceptance = await desk.acceptance(1);
    const ends = await Promise.allSettled(Array.from({ length: 5 }, () => desk.accept(acceptance, proof)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(audit.entries.slice(-2)).toMatchObject([
      { event: 'policy.adopted', facts: { how: 'signed', proof } },
      { event: 'proposal.accepted', actor: 'operator', facts: { proposal: 1, agent: 'kimi', match: 'x:y:z', proof } },
    ]);
    expect(audit.of('proposal.accepted')).toHaveLength(1);
    expect(readFileSync(join(home, 'policies.yaml'), 'utf8')).toBe(inForce());
    expect(inForce()).toBe(`${text}      - { match: 'x:y:z', effect: allow }\n`);
  });

  test('[PROP-7] a rejection and an acceptance that cross leave one decision, and no rule without it', async () => {
    await propose('x:y:z');
    const acceptance = await desk.acceptance(1);
    await desk.reject(1, 'no', proof);
    await expect(desk.accept(acceptance, proof)).rejects.toMatchObject({ code: 'policy.not_pending' });
    expect([inForce(), readFileSync(join(home, 'policies.yaml'), 'utf8')]).toEqual([text, text]);
    expect(audit.of('proposal.accepted')).toEqual([]);
    expect(policy.decide({ agent: 'kimi', capability: 'x:y:z' }).effect).toBe('deny');
  });

  test('[PROP-5] an acceptance that cannot be recorded or written leaves file, policy and proposal as they were', async () => {
    await propose('x:y:z');
    const acceptance = await desk.acceptance(1);
    audit.fail(true);
    await expect(desk.accept(acceptance, proof)).rejects.toMatchObject({ code: 'audit.unavailable' });
    audit.fail(false);
    files.full = true;
    await expect(desk.accept(acceptance, proof)).rejects.toMatchObject({ code: 'platform.write_failed' });
    files.full = false;
    expect([inForce(), readFileSync(join(home, 'policies.yaml'), 'utf8')]).toEqual([text, text]);
    expect(await desk.pending(1)).toMatchObject({ state: 'pending' });
    await desk.accept(acceptance, proof);
    expect(policy.decide({ agent: 'kimi', capability: 'x:y:z' }).effect).toBe('allow');
  });

  test('[PROP-7] an acceptance counts for the policy it was made from, and for no file that was edited since', async () => {
    await propose('x:y:1');
    await propose('x:y:2');
    const [one, two] = [await desk.acceptance(1), await desk.acceptance(2)];
    await desk.accept(two, proof);
    await expect(desk.accept(one, proof)).rejects.toMatchObject({ code: 'policy.changed' });
    const again = await desk.acceptance(1);
    writeFileSync(join(home, 'policies.yaml'), `${inForce()}# mine\n`);
    await expect(desk.accept(again, proof)).rejects.toMatchObject({ code: 'policy.edited' });
    await expect(desk.acceptance(1)).rejects.toMatchObject({ code: 'policy.edited' });
    expect(readFileSync(join(home, 'policies.yaml'), 'utf8')).toMatch(/# mine\n$/);
    rmSync(join(home, 'policies.yaml'));
    await expect(desk.accept(again, proof)).rejects.toMatchObject({ code: 'policy.edited' });
  });

  test('[PROP-2] what an agent that ended proposed is closed, and not the business of the next of its name', async () => {
    await propose('x:y:1');
    await propose('x:y:2', {}, 'bob');
    await desk.withdraw('kimi');
    await desk.withdraw('kimi');
    expect((await desk.list('pending')).map(({ agent }) => agent)).toEqual(['bob']);
    expect(audit.of('proposal.withdrawn')).toMatchObject([{ actor: 'daemon', facts: { agent: 'kimi', proposals: [1] } }]);
    expect(copy()).not.toContain('"kimi"');
    await expect(desk.pending(1)).rejects.toMatchObject({ code: 'policy.not_pending' });
    await expect(desk.pending(9)).rejects.toMatchObject({ code: 'policy.no_proposal' });
  });
});
