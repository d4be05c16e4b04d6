// Grants on both databases: found fast, dead on time, never outliving a revocation, the same after a restart.
import { beforeEach, expect, test } from 'vitest';
import { createEntropy } from '../../platform/crypto.ts';
import { describeDatabases, type TestDatabase } from '../../../test/support/databases.ts';
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts';
import { createPlainAudit, type PlainAudit } from '../../../test/support/plain-audit.ts';
import type { Caller } from '../../kernel/caller.ts';
import { covers, parseCapability } from '../policy/capability.ts';
import { createGrants, type Grants, type NewGrant } from './grants.ts';
import { grantOperations } from './operations.ts';
import { grantMigrations } from './store.ts';

const minute = 60_000;
const literal: NewGrant = {
  agent: 'kimi',
  capability: 'github:call:get_issue',
  origin: 'policy',
  rule: 'github:call:get_*',
  ttlMs: 15 * minute,
};

describeDatabases('grants', (open) => {
  let db: TestDatabase;
  let clock: FakeClock;
  let audit: PlainAudit;
  let grants: Grants;
  let compared: string[];

  const start = (database: TestDatabase): Promise<Grants> =>
    createGrants({
      db: database,
      audit,
      clock,
      entropy: createEntropy(),
      covers(outer, inner) {
        compared.push(outer);
        return covers(parseCapability(outer), parseCapability(inner));
      },
    });

  beforeEach(async () => {
    db = await open();
    await db.migrate(grantMigrations);
    clock = createFakeClock();
    audit = createPlainAudit(db);
    compared = [];
    grants = await start(db);
  });

  const restart = async (): Promise<void> => {
    await db.close();
    db = await open(db.url);
    audit = createPlainAudit(db);
    grants = await start(db);
  };

  test('[GRANT-1] a grant covers its own capability for its agent until its ttl is over, on the record', async () => {
    const grant = await grants.issue(literal);
    expect(grant).toMatchObject({ ...literal, grantedAt: clock.now(), expiresAt: clock.now() + literal.ttlMs });
    expect(grants.covering('kimi', literal.capability, 'any')).toEqual(grant);
    expect(grants.covering('other', literal.capability, 'any')).toBeUndefined();
    expect(grants.covering('kimi', 'github:call:get_issues', 'any')).toBeUndefined();
    expect(audit.entries).toEqual([
      {
        event: 'grant.issued',
        actor: 'agent:kimi',
        facts: {
          grant: grant.id,
          agent: 'kimi',
          capability: literal.capability,
          origin: 'policy',
          rule: literal.rule,
          ttl_ms: literal.ttlMs,
          expires_at: grant.expiresAt,
        },
      },
    ]);
    clock.advance(literal.ttlMs - 1);
    expect(grants.covering('kimi', literal.capability, 'any')).toEqual(grant);
    clock.advance(1);
    expect(grants.covering('kimi', literal.capability, 'any')).toBeUndefined();
    expect(grants.active('kimi')).toEqual([]);
  });

  test('[GRANT-1] a pattern covers what its language holds, itself and narrower patterns included', async () => {
    for (const capability of ['github:write:easyorder/*', '*:read:x', 'aws:*:dev', '*:*:health']) {
      await grants.issue({ ...literal, capability });
    }
    const held = (capability: string): string | undefined => grants.covering('kimi', capability, 'any')?.capability;
    expect(held('github:write:easyorder/api')).toBe('github:write:easyorder/*');
    expect(held('github:write:easyorder/*')).toBe('github:write:easyorder/*');
    expect(held('github:write:easyorder/api/*')).toBe('github:write:easyorder/*');
    expect(held('github:write:other/api')).toBeUndefined();
    expect(held('github:write:*')).toBeUndefined();
    expect(held('jira:read:x')).toBe('*:read:x');
    expect(held('aws:deploy:dev')).toBe('aws:*:dev');
    expect(held('aws:deploy:prod')).toBeUndefined();
    expect(held('any:thing:health')).toBe('*:*:health');
    expect(held('*:*:*')).toBeUndefined();
  });

  test('a human’s grant is told from a rule’s, and the longest-lived one answers', async () => {
    const rule = await grants.issue({ ...literal, ttlMs: 60 * minute });
    expect(grants.covering('kimi', literal.capability, 'human')).toBeUndefined();
    const approvalId = '3f6b8c2e-1a2d-4e5f-9a0b-7c8d9e0f1a2b';
    const human = await grants.issue({ ...literal, origin: 'human', approvalId, ttlMs: 5 * minute });
    expect(grants.covering('kimi', literal.capability, 'human')).toEqual(human);
    expect(grants.covering('kimi', literal.capability, 'any')).toEqual(rule);
    expect(audit.entries.at(-1)).toMatchObject({ actor: 'operator', facts: { origin: 'human', approval: approvalId } });
  });

  test('looking up a literal compares no pattern of other upstreams, and none at all when it is held itself', async () => {
    for (let n = 0; n < 20; n += 1) await grants.issue({ ...literal, capability: `up${n}:write:x/*` });
    grants.covering('kimi', 'up3:write:x/y', 'any');
    expect(compared).toEqual(['up3:write:x/*']);
    compared = [];
    await grants.issue(literal);
    grants.covering('kimi', literal.capability, 'any');
    expect(compared).toEqual([]);
  });

  test('concurrent issues of one grant share it and its one record; another ttl, agent or origin does not', async () => {
    const same = await Promise.all([grants.issue(literal), grants.issue(literal), grants.issue({ ...literal })]);
    expect(new Set(same.map(({ id }) => id)).size).toBe(1);
    expect(audit.of('grant.issued')).toHaveLength(1);
    const others = await Promise.all([
      grants.issue({ ...literal, ttlMs: minute }),
      grants.issue({ ...literal, agent: 'other' }),
      grants.issue({ ...literal, origin: 'human', approvalId: 'a' }),
    ]);
    expect(new Set(others.map(({ id }) => id)).size).toBe(3);
    expect(await grants.issue(literal)).not.toEqual(same[0]);
  });

  test('nothing is issued while nothing can be recorded, and the next try may succeed', async () => {
    audit.fail(true);
    await expect(grants.issue(literal)).rejects.toMatchObject({ code: 'audit.unavailable' });
    expect(grants.covering('kimi', literal.capability, 'any')).toBeUndefined();
    audit.fail(false);
    await restart();
    expect(grants.active()).toEqual([]);
    await expect(grants.issue(literal)).resolves.toBeDefined();
  });

  test('[STORE-1] live grants survive a restart, expired ones do not', async () => {
    const approvalId = '3f6b8c2e-1a2d-4e5f-9a0b-7c8d9e0f1a2b';
    const long = await grants.issue({ ...literal, origin: 'human', approvalId });
    await grants.issue({ ...literal, capability: 'github:call:other', ttlMs: minute });
    clock.advance(minute);
    await restart();
    expect(grants.active()).toEqual([long]);
    expect(grants.covering('kimi', literal.capability, 'human')).toEqual(long);
  });

  test('[STORE-1] a staged grant lives only when its transaction was kept and it was published', async () => {
    const staged = await db.transaction((tx) => grants.stage(tx, literal));
    expect(grants.active()).toEqual([]);
    staged.publish();
    expect(grants.active()).toEqual([staged.grant]);
    const undone = db.transaction(async (tx) => {
      await grants.stage(tx, { ...literal, agent: 'other' });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await restart();
    expect(grants.active()).toEqual([staged.grant]);
  });

  test('revoking an agent ends all its grants, those being issued included, and no other’s', async () => {
    await grants.issue(literal);
    const spared = await grants.issue({ ...literal, agent: 'other' });
    const [, count] = await Promise.all([grants.issue({ ...literal, ttlMs: minute }), grants.revokeAll('kimi', 'agent revoked')]);
    expect(count).toBe(2);
    expect(grants.active()).toEqual([spared]);
    expect(audit.of('grant.revoked').map(({ facts }) => facts)).toEqual([{ agent: 'kimi', count: 2, reason: 'agent revoked' }]);
    await restart();
    expect(grants.active()).toEqual([spared]);
    expect(await grants.revokeAll('kimi', 'again')).toBe(0);
    expect(audit.entries).toEqual([]);
  });

  test('a revocation that could not be recorded still ends the grants here, and can be tried again', async () => {
    await grants.issue(literal);
    audit.fail(true);
    await expect(grants.revokeAll('kimi', 'agent revoked')).rejects.toMatchObject({ code: 'audit.unavailable' });
    expect(grants.active()).toEqual([]);
    audit.fail(false);
    expect(await grants.revokeAll('kimi', 'agent revoked')).toBe(1);
  });

  test('expired rows are swept with a later issue, counted on the record, and live ones stay', async () => {
    await grants.issue({ ...literal, ttlMs: minute });
    await grants.issue({ ...literal, capability: 'a:call:b', ttlMs: minute });
    const long = await grants.issue({ ...literal, capability: 'a:call:c', ttlMs: 60 * minute });
    clock.advance(11 * minute);
    const fresh = await grants.issue(literal);
    expect(audit.of('grant.expired').map(({ facts }) => facts)).toEqual([{ count: 2 }]);
    const rows = await db.queries.selectFrom('grants_grant').select('id').orderBy('granted_at').execute();
    expect(rows.map(({ id }) => id as string)).toEqual([long.id, fresh.id]);
  });

  test('[POL-10] the guards a person was shown stay with the grant, over a restart too, and whoever looks may weigh them', async () => {
    const guards = [{ branch: 'dev/*', force: false, depth: 3 }];
    const human: NewGrant = { ...literal, origin: 'human', approvalId: 'a', guards };
    const grant = await grants.issue(human);
    await restart();
    expect(grants.covering('kimi', literal.capability, 'human')).toEqual(grant);
    expect(grants.covering('kimi', literal.capability, 'human', (held) => held.guards === undefined)).toBeUndefined();
    const free = await grants.issue({ ...human, guards: [{ branch: '*' }], ttlMs: minute });
    expect(free.id).not.toBe(grant.id);
    const { branch } = guards[0] ?? {};
    expect(grants.covering('kimi', literal.capability, 'human', (held) => held.guards?.[0]?.['branch'] !== branch)).toEqual(free);
  });

  test('a row that cannot be read is locked state', async () => {
    const { id } = await grants.issue(literal);
    const damages = [
      { origin: 'nobody' },
      { origin: 'human' },
      { expires_at: 9_999_999_999_999 },
      { guards: '{' },
      { guards: '[]' },
      { guards: 'null' },
    ];
    for (const damage of damages) {
      await db.queries
        .updateTable('grants_grant')
        .set({ origin: 'policy', expires_at: clock.now() + literal.ttlMs, guards: null, ...damage })
        .execute();
      await expect(start(db)).rejects.toMatchObject({ code: 'grants.locked', message: expect.stringContaining(id) });
    }
  });

  const run = (name: string, caller: Caller, input: unknown = {}) => {
    const operation = grantOperations({ grants, clock }).find((one) => one.name === name);
    const signal = new AbortController().signal;
    return operation?.run(operation.input.parse(input), { caller, signal, canProgress: false, progress: () => undefined });
  };

  test('[TOOL-4] scopegate_list_capabilities answers as on its page, for the asking agent only, with the log down', async () => {
    const { id } = await grants.issue({ ...literal, ttlMs: 812_900 });
    await grants.issue({ ...literal, agent: 'other' });
    audit.fail(true);
    const tool = grantOperations({ grants, clock }).find((operation) => operation.tool?.name === 'scopegate_list_capabilities');
    expect(tool).toMatchObject({ name: 'grants.list', access: 'agent', effect: 'look' });
    expect(tool?.input.safeParse({ agent: 'other' }).success).toBe(false);
    const kimi = { kind: 'agent', agent: 'kimi', session: 's' } as const;
    const answer = await run('grants.list', kimi);
    expect(answer).toEqual({
      agentId: 'kimi',
      active_grants: [{ id, capability: 'github:call:get_issue', remaining_seconds: 812 }],
    });
    expect(tool?.output.parse(answer)).toEqual(answer);
    clock.advance(812_900);
    expect(await run('grants.list', kimi)).toEqual({ agentId: 'kimi', active_grants: [] });
    expect(audit.of('grant.issued')).toHaveLength(2);
  });

  test('grants ls shows a person the grants of all agents, or of one', async () => {
    await grants.issue(literal);
    clock.advance(1_000);
    await grants.issue({ ...literal, agent: 'other', origin: 'human', approvalId: 'a' });
    const all = await run('grants.survey', { kind: 'local' });
    expect(all).toMatchObject([
      { agent: 'kimi', origin: 'policy', remaining_seconds: 899 },
      { agent: 'other', approval_id: 'a', granted_at: new Date(clock.now()).toISOString() },
    ]);
    expect(await run('grants.survey', { kind: 'local' }, { agent: 'kimi' })).toHaveLength(1);
  });
});
