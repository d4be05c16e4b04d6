// The policy in force, tried as somebody who can write every file of the home and holds no key.
import { mkdtempSync, rmSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { describeDatabases, type TestDatabase } from '../../../test/support/databases.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { createPlainAudit, type PlainAudit } from '../../../test/support/plain-audit.ts';
import { silentLog } from '../../../test/support/silent-log.ts';
import type { Clock } from '../../kernel/ports.ts';
import { createClock } from '../../platform/clock.ts';
import { createDigest } from '../../platform/crypto.ts';
import { createFiles } from '../../platform/files.ts';
import { hashOf } from './policy-file.ts';
import { createPolicy, type Policy, type PolicyAdmin } from './policy.ts';
import { starterPolicy } from './starter.ts';
import { policyMigrations } from './store.ts';

const digest = createDigest();
const policyText = (rules: string): string => `version: 1\nagents:\n  '*':\n    capabilities:\n${rules}`;
const good = policyText("      - { match: 'x:call:drop', effect: ask }\n      - { match: 'x:call:*', effect: allow }\n");
const narrower = good.replace('effect: ask', 'effect: deny');
const wider = good.replace('effect: ask', 'effect: allow');

describeDatabases('the policy in force', (open) => {
  let home: string;
  let path: string;
  let db: TestDatabase;
  let audit: PlainAudit;
  let log: ReturnType<typeof silentLog>;
  let hasOperator: boolean;
  const opened: Policy[] = [];

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'sallyport-policy-'));
    path = join(home, 'policies.yaml');
    db = await open();
    await db.migrate(policyMigrations);
    audit = createPlainAudit(db);
    log = silentLog();
    hasOperator = false;
  });
  afterEach(() => {
    for (const policy of opened.splice(0)) policy.close();
    rmSync(home, { recursive: true, force: true });
  });

  const write = (text: string): Promise<void> => createFiles().writeAtomic(path, text);
  async function boot(clock: Clock = createClock()): Promise<Policy & PolicyAdmin> {
    const policy = await createPolicy({
      db,
      audit,
      files: createFiles(),
      path,
      clock,
      digest,
      log,
      hasOperator: () => hasOperator,
    });
    opened.push(policy);
    return policy;
  }
  async function adopted(text: string, clock?: Clock): Promise<Policy & PolicyAdmin> {
    await write(text);
    const policy = await boot(clock);
    expect(await policy.adoptFirst()).toMatchObject({ adopted: true });
    return policy;
  }
  const drop = (policy: Policy) => policy.decide({ agent: 'kimi', capability: 'x:call:drop' });
  const get = (policy: Policy) => policy.decide({ agent: 'kimi', capability: 'x:call:get' });
  const soon = { timeout: 8_000, interval: 10 };

  test('[POL-11] before there is an operator everything is denied, and the reason says so', async () => {
    await write(wider);
    const policy = await boot();
    expect(get(policy)).toEqual({
      effect: 'deny',
      code: 'no_policy',
      hard: false,
      reason: expect.stringContaining('no operator yet') as string,
    });
    expect(policy.digest('kimi')).toMatchObject({ agent_found: false, auto_approve: [], team: null });
    expect(policy.version()).toBe(hashOf(digest, ''));
    await writeFile(path, wider.replace('drop', 'drip'));
    expect(audit.entries).toEqual([]);
  });

  test('[POL-11] the first file is adopted with the operator, once, and its record is in the same commit', async () => {
    await write(good);
    const policy = await boot();
    audit.fail(true);
    await expect(policy.adoptFirst()).rejects.toMatchObject({ code: 'audit.unavailable' });
    expect(get(policy)).toMatchObject({ effect: 'deny' });
    expect(get(await boot())).toMatchObject({ effect: 'deny' });
    audit.fail(false);

    const changed = vi.fn<() => void>();
    policy.onChanged(changed);
    expect(await policy.adoptFirst()).toEqual({ adopted: true, version: hashOf(digest, good), starter: false });
    expect(changed).toHaveBeenCalledTimes(1);
    expect(get(policy)).toMatchObject({ effect: 'allow' });
    expect(policy.version()).toBe(hashOf(digest, good));

    await writeFile(path, wider);
    expect(await policy.adoptFirst()).toMatchObject({ version: hashOf(digest, good) });
    expect(audit.of('policy.adopted')).toEqual([
      { event: 'policy.adopted', actor: 'operator', facts: { to: hashOf(digest, good), how: 'first', starter: false } },
    ]);
  });

  test('without a file a starter policy is written: look freely, ask before anything else', async () => {
    const policy = await boot();
    expect(await policy.adoptFirst()).toMatchObject({ adopted: true, starter: true });
    expect((await policy.readFile()).text).toBe(starterPolicy);
    const tool = { agent: 'kimi', capability: 'x:call:tool' };
    expect(policy.decide({ ...tool, annotations: { readOnlyHint: true } })).toMatchObject({ effect: 'allow' });
    expect(policy.decide({ ...tool, annotations: {} })).toMatchObject({ effect: 'ask' });
    expect(policy.decide({ agent: 'kimi', capability: 'x:read:file' })).toMatchObject({ code: 'no_rule' });
  });

  test('[POL-11] a first file with errors is not adopted and everything stays denied', async () => {
    await write(good.replace('effect: ask', 'efect: ask'));
    const policy = await boot();
    expect(await policy.adoptFirst()).toMatchObject({
      adopted: false,
      findings: expect.arrayContaining([expect.objectContaining({ line: 5, hint: "Did you mean 'effect'?" })]) as unknown,
    });
    hasOperator = true;
    expect(get(policy)).toMatchObject({
      effect: 'deny',
      code: 'no_policy',
      reason:
        'No policy was ever adopted: everything is denied until a human corrects policies.yaml and runs: sallyport policies adopt',
    });
    expect(get(await boot())).toMatchObject({ reason: expect.stringContaining('policies adopt') as string });
    expect(audit.of('policy.refused')).toHaveLength(1);
    await write(good);
    expect(await policy.adoptFirst()).toMatchObject({ adopted: true });
  });

  test('[POL-8] an edit that only takes away is in force at once, recorded, and survives a restart', async () => {
    const policy = await adopted(good);
    const changed = vi.fn<() => void>();
    policy.onChanged(changed);
    await write(narrower);
    await vi.waitFor(() => expect(drop(policy)).toMatchObject({ code: 'ceiling_blocked' }), soon);
    expect(changed).toHaveBeenCalled();
    expect(audit.of('policy.narrowed')).toEqual([
      {
        event: 'policy.narrowed',
        actor: 'daemon',
        facts: { from: hashOf(digest, good), to: hashOf(digest, narrower), how: 'narrowed' },
      },
    ]);
    expect(drop(await boot())).toMatchObject({ code: 'ceiling_blocked' });
  });

  test('[POL-8] what was narrowed does not widen again by itself', async () => {
    const policy = await adopted(good);
    await write(narrower);
    await vi.waitFor(() => expect(policy.version()).toBe(hashOf(digest, narrower)), soon);
    await write(good);
    await vi.waitFor(() => expect(policy.standing().disk.state).toBe('waiting'), soon);
    expect(drop(policy)).toMatchObject({ code: 'ceiling_blocked' });
    expect(drop(await boot())).toMatchObject({ code: 'ceiling_blocked' });
  });

  test('[POL-8] a wider edit is refused, said and recorded once, and the last good stays in force', async () => {
    const policy = await adopted(good);
    await write(wider);
    await vi.waitFor(
      () =>
        expect(policy.standing().disk).toMatchObject({
          state: 'waiting',
          changes: expect.arrayContaining([expect.stringContaining("'x:call:drop' may now allow more")]) as unknown,
        }),
      soon,
    );
    expect(drop(policy)).toMatchObject({ effect: 'ask' });
    expect(policy.version()).toBe(hashOf(digest, good));
    expect(log.lines.join('\n')).toContain('run: sallyport policies adopt');
    await write(wider);
    await new Promise((resolve) => void setTimeout(resolve, 300));
    expect(audit.of('policy.refused')).toHaveLength(1);
    const again = await boot();
    expect(drop(again)).toMatchObject({ effect: 'ask' });
    expect(audit.of('policy.refused').map(({ facts }) => facts)).toEqual([
      { version: hashOf(digest, wider), reason: 'waiting', changes: 2 },
      { version: hashOf(digest, wider), reason: 'waiting', changes: 2 },
    ]);
    await write(good);
    await vi.waitFor(() => expect(policy.standing().disk.state).toBe('in_force'), soon);
  });

  test('[POL-8] an edit with errors is refused with its place, and the last good stays in force', async () => {
    const policy = await adopted(good);
    await write(good.replace('match', 'macht'));
    await vi.waitFor(() => expect(policy.standing().disk.state).toBe('invalid'), soon);
    expect(get(policy)).toMatchObject({ effect: 'allow' });
    expect(log.lines.join('\n')).toMatch(/line 5.*sallyport policies check|sallyport policies check.*line 5/);
    expect(audit.of('policy.refused')).toHaveLength(1);
  });

  test('[POL-8] half a file, caught while it is being written, takes nothing away', async () => {
    const clock = createFakeClock();
    const policy = await adopted(good, clock);
    const [half] = good.split("      - { match: 'x:call:*'");
    await writeFile(path, half ?? '');
    await vi.waitFor(() => expect(clock.pending()).toBe(1), soon);
    await writeFile(path, good);
    clock.advance(250);
    await new Promise((resolve) => void setTimeout(resolve, 200));
    expect(get(policy)).toMatchObject({ effect: 'allow' });
    expect(policy.standing().disk.state).toBe('in_force');
    expect(audit.of('policy.narrowed')).toEqual([]);
  });

  test('[POL-8] a narrowing that cannot be recorded is put in force as soon as it can be', async () => {
    const clock = createFakeClock();
    const policy = await adopted(good, clock);
    const pass = async (ms: number): Promise<void> => {
      await vi.waitFor(() => expect(clock.pending()).toBe(1), soon);
      clock.advance(ms);
    };
    audit.fail(true);
    await write(narrower);
    await pass(250);
    await vi.waitFor(() => expect(log.lines.join('\n')).toContain('tried again'), soon);
    expect(policy.version()).toBe(hashOf(digest, good));
    audit.fail(false);
    await pass(5_000);
    await pass(250);
    await vi.waitFor(() => expect(policy.version()).toBe(hashOf(digest, narrower)), soon);
    expect(audit.of('policy.narrowed')).toHaveLength(1);
  });

  test('[POL-11] a deleted file denies everything and says so; restoring it restores', async () => {
    const policy = await adopted(good);
    await rename(path, `${path}.away`);
    await vi.waitFor(
      () => expect(get(policy)).toMatchObject({ effect: 'deny', reason: expect.stringContaining('is missing') as string }),
      soon,
    );
    expect(policy.version()).toBe(hashOf(digest, ''));
    expect(get(await boot())).toMatchObject({ effect: 'deny' });
    await expect(policy.readFile()).rejects.toMatchObject({ code: 'policy.missing' });
    await rename(`${path}.away`, path);
    await vi.waitFor(() => expect(get(policy)).toMatchObject({ effect: 'allow' }), soon);
    expect(audit.of('policy.narrowed')[0]?.facts).toEqual({ from: hashOf(digest, good), how: 'file_missing' });
    expect(audit.of('policy.adopted').at(-1)).toMatchObject({ actor: 'daemon', facts: { how: 'file_restored' } });
  });

  test('[POL-11] a wider file put in the place of a deleted one does not come into force', async () => {
    const policy = await adopted(good);
    await rm(path);
    await vi.waitFor(() => expect(get(policy)).toMatchObject({ effect: 'deny' }), soon);
    await write(wider);
    await vi.waitFor(() => expect(drop(policy)).toMatchObject({ effect: 'ask' }), soon);
    expect(policy.version()).toBe(hashOf(digest, good));
  });

  test('[POL-11] a file that cannot be read denies everything and says so', async () => {
    const policy = await adopted(good);
    await rm(path);
    await mkdir(path);
    await vi.waitFor(
      () =>
        expect(get(policy)).toMatchObject({ code: 'config_error', reason: expect.stringContaining('cannot be read') as string }),
      soon,
    );
    await chmod(path, 0o700);
    await rm(path, { recursive: true });
    await write(`${good}#${'x'.repeat(300_000)}`);
    await vi.waitFor(
      () =>
        expect(policy.standing().disk).toMatchObject({ state: 'unreadable', reason: expect.stringContaining('larger') as string }),
      soon,
    );
    expect(get(policy)).toMatchObject({ code: 'config_error' });
  });

  test('[POL-11] a tampered row locks everything until an operator adopts again', async () => {
    await adopted(good);
    await db.queries.updateTable('policy_in_force').set({ text: wider }).execute();
    await write(wider);
    const policy = await boot();
    expect(get(policy)).toMatchObject({
      effect: 'deny',
      code: 'config_error',
      reason: expect.stringContaining('locked') as string,
    });
    expect(await policy.adoptFirst()).toMatchObject({ adopted: false });
    expect(get(policy)).toMatchObject({ effect: 'deny' });
    await policy.adopt(good, { key_id: 'k' });
    expect(get(policy)).toMatchObject({ effect: 'allow' });
    expect(get(await boot())).toMatchObject({ effect: 'allow' });
  });

  test('[POL-11] a row this version cannot read, or no table at all, locks everything', async () => {
    await adopted(good);
    const odd = 'version: 9\n';
    await db.queries
      .updateTable('policy_in_force')
      .set({ text: odd, version: hashOf(digest, odd) })
      .execute();
    expect(get(await boot())).toMatchObject({ code: 'config_error', reason: expect.stringContaining('cannot read') as string });
    await db.queries.schema.dropTable('policy_in_force').execute();
    expect(get(await boot())).toMatchObject({ code: 'config_error' });
  });

  test('[POL-8] an adopted text is in force with the proof on its record, and a text with errors is not', async () => {
    const policy = await adopted(good);
    await expect(policy.adopt('version: 1\n', {})).rejects.toMatchObject({ code: 'policy.invalid', kind: 'invalid' });
    expect(await policy.adopt(wider, { key_id: 'abc' })).toMatchObject({ version: hashOf(digest, wider) });
    expect(drop(policy)).toMatchObject({ effect: 'allow' });
    expect(audit.of('policy.adopted').at(-1)).toEqual({
      event: 'policy.adopted',
      actor: 'operator',
      facts: { from: hashOf(digest, good), to: hashOf(digest, wider), how: 'signed', proof: { key_id: 'abc' } },
    });
    expect(audit.decisions()).toBe(2);
  });

  test('[STORE-1] the row is one, replaced by every adoption, and comes back byte for byte', async () => {
    const policy = await adopted(good);
    const odd = `${wider}# ünïcode 🙂 'quotes' \\ "and" $1 ? \n`;
    await policy.adopt(odd, {});
    const rows = await db.queries.selectFrom('policy_in_force').selectAll().execute();
    expect(rows).toMatchObject([{ text: odd, version: hashOf(digest, odd), how: 'signed' }]);
    await write(odd);
    expect((await boot()).version()).toBe(hashOf(digest, odd));
  });
});
