import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDigest, createEntropy } from '../../platform/crypto.ts';
import { describeDatabases } from '../../../test/support/databases.ts';
import type { OpenDatabase, TestDatabase } from '../../../test/support/databases.ts';
import { createAuditHome } from '../../../test/support/audit-home.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { createPlainAudit } from '../../../test/support/plain-audit.ts';
import type { PlainAudit } from '../../../test/support/plain-audit.ts';
import { createAgents } from './agents.ts';
import type { AgentRegistry } from './agents.ts';
import type { AgentState, Decision } from './model.ts';
import { agentMigrations } from './store.ts';

const operator: Decision = { actor: 'operator', proof: { key_id: '0123456789abcdef', method: 'passphrase' } };
const local: Decision = { actor: 'local' };

interface Bench {
  readonly db: TestDatabase;
  readonly audit: PlainAudit;
  readonly agents: AgentRegistry;
  readonly clock: ReturnType<typeof createFakeClock>;
  /** `name:why` of every end that was told. */
  readonly ended: string[];
  /** The slice as the next start of the daemon finds it. */
  readonly restart: () => Promise<AgentRegistry>;
}

async function bench(open: OpenDatabase, auditOver: (db: TestDatabase) => PlainAudit = createPlainAudit): Promise<Bench> {
  const db = await open();
  await db.migrate(agentMigrations);
  const audit = auditOver(db);
  const clock = createFakeClock();
  const restart = (): Promise<AgentRegistry> =>
    createAgents({ db, audit, clock, entropy: createEntropy(), digest: createDigest() });
  const agents = await restart();
  const ended: string[] = [];
  agents.onEnded((name, why) => ended.push(`${name}:${why}`));
  return { db, audit, agents, clock, ended, restart };
}

const everything = async (db: TestDatabase): Promise<string> =>
  JSON.stringify(await db.queries.selectFrom('agents').selectAll().execute());

describeDatabases('[STORE-1] agents', (open) => {
  test('an added agent is known by its token, by nothing else, and also after a restart', async () => {
    const { agents, restart } = await bench(open);
    const token = await agents.add('kimi-code', operator);
    const other = await agents.add('cursor', operator);
    for (const now of [agents, await restart()]) {
      expect(now.authenticate(token)).toEqual({ name: 'kimi-code', state: 'active', createdAt: '2026-01-01T00:00:00.000Z' });
      expect(now.authenticate(other)?.name).toBe('cursor');
      for (const wrong of ['', 'kimi-code', token.slice(0, -1), `${token}x`, other.slice(0, 20) + token.slice(20)]) {
        expect(now.authenticate(wrong)).toBeUndefined();
      }
      expect(() => now.assertActive('kimi-code')).not.toThrow();
    }
  });

  test('[AGENT-1] neither the database nor the record holds a token', async () => {
    const { agents, db, audit } = await bench(open);
    const tokens = [await agents.add('a', operator), await agents.rotate('a', operator)];
    const stored = (await everything(db)) + JSON.stringify(audit.entries);
    for (const token of tokens) {
      expect(stored).not.toContain(token);
      expect(stored).not.toContain(token.slice(3, 46));
    }
  });

  test('the hash that is stored is no token', async () => {
    const { agents, db } = await bench(open);
    await agents.add('a', operator);
    const { token_hash: hash } = await db.queries.selectFrom('agents').select('token_hash').executeTakeFirstOrThrow();
    expect(agents.authenticate(hash)).toBeUndefined();
    expect(agents.authenticate(`sp_${hash}`)).toBeUndefined();
  });

  test('[DOOR-12] rotating ends the sessions of the old token, which is unknown at once; the new one works', async () => {
    const { agents, ended, clock, restart } = await bench(open);
    const old = await agents.add('a', operator);
    clock.advance(1_000);
    const token = await agents.rotate('a', operator);
    expect(ended).toEqual(['a:rotated']);
    for (const now of [agents, await restart()]) {
      expect(now.authenticate(old)).toBeUndefined();
      expect(now.authenticate(token)).toMatchObject({ state: 'active', rotatedAt: '2026-01-01T00:00:01.000Z' });
    }
  });

  test('[DOOR-12] revoking ends sessions, is final, and the token is still known as a revoked one', async () => {
    const { agents, ended, restart } = await bench(open);
    const token = await agents.add('a', operator);
    await agents.revoke('a', operator);
    expect(ended).toEqual(['a:revoked']);
    for (const now of [agents, await restart()]) {
      expect(now.authenticate(token)?.state).toBe('revoked');
      expect(() => now.assertActive('a')).toThrow(expect.objectContaining({ kind: 'denied', code: 'agents.revoked' }));
    }
    const final = { kind: 'conflict', code: 'agents.revoked' };
    await expect(agents.rotate('a', operator)).rejects.toMatchObject(final);
    await expect(agents.revoke('a', operator)).rejects.toMatchObject(final);
    await expect(agents.unsuspend('a', operator)).rejects.toMatchObject(final);
    await expect(agents.suspend('a', 'why', local)).rejects.toMatchObject(final);
    await expect(agents.add('a', operator)).rejects.toMatchObject({ kind: 'conflict', code: 'agents.exists' });
    expect(ended).toEqual(['a:revoked']);
  });

  test('[DOOR-12] suspending ends sessions and keeps the first reason; unsuspending lets the same token on again', async () => {
    const { agents, ended, audit, restart } = await bench(open);
    const token = await agents.add('a', operator);
    await agents.suspend('a', 'it wrote to prod', local);
    await agents.suspend('a', 'nothing, really', local);
    expect(ended).toEqual(['a:suspended']);
    for (const now of [agents, await restart()]) {
      expect(now.authenticate(token)).toMatchObject({ state: 'suspended', reason: 'it wrote to prod' });
      expect(() => now.assertActive('a')).toThrow(expect.objectContaining({ kind: 'denied', code: 'agents.suspended' }));
    }
    await agents.unsuspend('a', operator);
    expect(agents.authenticate(token)).toEqual({ name: 'a', state: 'active', createdAt: '2026-01-01T00:00:00.000Z' });
    await expect(agents.unsuspend('a', operator)).rejects.toMatchObject({ code: 'agents.not_suspended' });
    expect(audit.entries.map(({ event }) => event)).toEqual(['agent.added', 'agent.suspended', 'agent.unsuspended']);
    expect(ended).toEqual(['a:suspended']);
  });

  test('a suspended agent that gets a new token stays suspended', async () => {
    const { agents } = await bench(open);
    await agents.add('a', operator);
    await agents.suspend('a', undefined, local);
    expect(agents.authenticate(await agents.rotate('a', operator))?.state).toBe('suspended');
  });

  test('[DOOR-12] removing ends sessions, whatever the state, and frees the name without bringing the old token back', async () => {
    const { agents, ended, restart } = await bench(open);
    const old = await agents.add('a', operator);
    await agents.revoke('a', operator);
    await agents.remove('a', operator);
    expect(ended).toEqual(['a:revoked', 'a:removed']);
    expect(() => agents.assertActive('a')).toThrow(expect.objectContaining({ kind: 'denied' }));
    const token = await agents.add('a', operator);
    for (const now of [agents, await restart()]) {
      expect(now.authenticate(old)).toBeUndefined();
      expect(now.authenticate(token)?.state).toBe('active');
    }
  });

  test('who is not there cannot be changed', async () => {
    const { agents, audit, ended } = await bench(open);
    const missing = { kind: 'not_found', code: 'agents.not_found' };
    for (const change of [
      agents.rotate('a', operator),
      agents.revoke('a', operator),
      agents.remove('a', operator),
      agents.suspend('a', 'why', local),
      agents.unsuspend('a', operator),
    ]) {
      await expect(change).rejects.toMatchObject(missing);
    }
    expect(audit.entries).toEqual([]);
    expect(ended).toEqual([]);
  });

  test('a name that could not be a key of policies.yaml is refused', async () => {
    const { agents, db } = await bench(open);
    for (const name of ['', 'A', '-a', '.a', 'a b', 'a*', 'a/b', '__proto__\u0000', 'a'.repeat(65), 'é']) {
      await expect(agents.add(name, operator)).rejects.toMatchObject({ kind: 'invalid', code: 'agents.bad_name' });
    }
    for (const name of ['0', 'constructor', 'a'.repeat(64)]) await agents.add(name, operator);
    expect(agents.list().map(({ name }) => name)).toEqual(['0', 'a'.repeat(64), 'constructor']);
    expect(JSON.parse(await everything(db))).toHaveLength(3);
  });

  test('each change is one decision on the record, with who made it and the proof, and a reason only sealed', async () => {
    const { agents, audit } = await bench(open);
    await agents.add('a', operator);
    await agents.suspend('a', 'a private reason', local);
    expect(audit.entries).toEqual([
      { event: 'agent.added', actor: 'operator', facts: { agent: 'a', proof: operator.proof } },
      { event: 'agent.suspended', actor: 'local', facts: { agent: 'a' }, sealed: { reason: 'a private reason' } },
    ]);
    expect(audit.decisions()).toBe(2);
  });

  test('on the real log each change stands once, and no token', async () => {
    const db = await open();
    const home = await createAuditHome(db, agentMigrations);
    const audit = await home.start();
    const agents = await createAgents({ db, audit, clock: home.clock, entropy: createEntropy(), digest: createDigest() });
    const tokens = [await agents.add('a', operator), await agents.rotate('a', operator)];
    await agents.suspend('a', 'a private reason', local);
    await agents.remove('a', operator);
    const records = (await home.records()).filter(({ event }) => event.startsWith('agent.'));
    expect(records.map(({ actor, event, facts }) => [actor, event, facts?.['agent']])).toEqual([
      ['operator', 'agent.added', 'a'],
      ['operator', 'agent.rotated', 'a'],
      ['local', 'agent.suspended', 'a'],
      ['operator', 'agent.removed', 'a'],
    ]);
    for (const text of [...tokens, 'a private reason']) expect(JSON.stringify(records)).not.toContain(text);
  });

  test('what cannot be recorded does not happen', async () => {
    const { agents, audit, db, ended } = await bench(open);
    const token = await agents.add('a', operator);
    audit.fail(true);
    for (const change of [agents.add('b', operator), agents.revoke('a', operator), agents.rotate('a', operator)]) {
      await expect(change).rejects.toMatchObject({ code: 'audit.unavailable' });
    }
    expect(agents.authenticate(token)?.state).toBe('active');
    expect(agents.list()).toHaveLength(1);
    expect(JSON.parse(await everything(db))).toHaveLength(1);
    expect(ended).toEqual([]);
  });

  test('a change that reached the database, but failed on the way back, is in force', async () => {
    let lose = false;
    const { agents, ended } = await bench(open, (db) =>
      createPlainAudit({
        ...db,
        async transaction(work) {
          const value = await db.transaction(work);
          if (lose) throw new Error('the answer was lost');
          return value;
        },
      }),
    );
    const token = await agents.add('a', operator);
    lose = true;
    await expect(agents.revoke('a', operator)).rejects.toThrow('the answer was lost');
    expect(agents.authenticate(token)?.state).toBe('revoked');
    expect(ended).toEqual(['a:revoked']);
  });

  test('an agent whose row cannot be read after a change is locked', async () => {
    let down = false;
    const { agents, ended } = await bench(open, (db) =>
      createPlainAudit({
        ...db,
        async transaction(work) {
          const value = await db.transaction(work);
          if (down) await db.close();
          return value;
        },
      }),
    );
    const token = await agents.add('a', operator);
    down = true;
    await expect(agents.rotate('a', operator)).rejects.toThrow('destroyed');
    expect(agents.authenticate(token)).toBeUndefined();
    expect(() => agents.assertActive('a')).toThrow(expect.objectContaining({ code: 'agents.locked' }));
    expect(ended).toEqual(['a:rotated']);
  });

  test.each([
    ['an unknown state', { state: 'ACTIVE' }],
    ['an empty state', { state: '' }],
    ['a hash that is none', { token_hash: 'x' }],
    ['an instant that is none', { created_at: 'yesterday' }],
    ['a rotation that is no instant', { rotated_at: '' }],
  ])('a row with %s is a locked agent: it never authenticates, harms no other and can be removed', async (_, damage) => {
    const { agents, db, restart } = await bench(open);
    const token = await agents.add('a', operator);
    const other = await agents.add('b', operator);
    await db.queries.updateTable('agents').set(damage).where('name', '=', 'a').execute();
    const now = await restart();
    expect(now.authenticate(token)).toBeUndefined();
    expect(now.get('a')?.state).toBe('locked');
    expect(() => now.assertActive('a')).toThrow(expect.objectContaining({ kind: 'denied', code: 'agents.locked' }));
    const locked = { kind: 'conflict', code: 'agents.locked' };
    await expect(now.rotate('a', operator)).rejects.toMatchObject(locked);
    await expect(now.unsuspend('a', operator)).rejects.toMatchObject(locked);
    expect(now.authenticate(other)?.state).toBe('active');
    await now.remove('a', operator);
    expect(now.get('a')).toBeUndefined();
  });

  test('listeners are called after the commit, all of them, also past one that throws, and not after they left', async () => {
    const { agents, restart } = await bench(open);
    await agents.add('a', operator);
    const seen: (AgentState | undefined)[] = [];
    agents.onEnded(() => {
      throw new Error('a session would not end');
    });
    agents.onEnded((name) => seen.push(agents.get(name)?.state));
    const leave = agents.onEnded(() => seen.push('locked'));
    leave();
    await expect(agents.revoke('a', operator)).rejects.toThrow('a session would not end');
    expect(seen).toEqual(['revoked']);
    expect((await restart()).get('a')?.state).toBe('revoked');
  });

  test('of many who add the same name at once one gets a token, and it is the one that works', async () => {
    const { agents, db } = await bench(open);
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => agents.add('a', operator)));
    const tokens = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(tokens).toHaveLength(1);
    expect(agents.authenticate(tokens[0] ?? '')?.name).toBe('a');
    expect(JSON.parse(await everything(db))).toHaveLength(1);
  });

  test('of many rotations at once the last token works and no other', async () => {
    const { agents, restart } = await bench(open);
    await agents.add('a', operator);
    const tokens = await Promise.all(Array.from({ length: 5 }, () => agents.rotate('a', operator)));
    for (const now of [agents, await restart()]) {
      expect(tokens.map((token) => now.authenticate(token)?.name)).toEqual([undefined, undefined, undefined, undefined, 'a']);
    }
  });

  test('after any run of changes memory, database and a plain model of the states agree', async () => {
    const verbs = ['add', 'rotate', 'revoke', 'remove', 'suspend', 'unsuspend'] as const;
    const step = fc.record({ verb: fc.constantFrom(...verbs), name: fc.constantFrom('a', 'b') });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { agents, restart } = await bench(open);
        const model = new Map<string, { state: AgentState; token: string }>();
        for (const { verb, name } of steps) {
          const entry = model.get(name);
          const changeable = entry !== undefined && entry.state !== 'revoked';
          const allowed =
            verb === 'add'
              ? entry === undefined
              : verb === 'remove'
                ? entry !== undefined
                : changeable && (verb !== 'unsuspend' || entry.state === 'suspended');
          const result = await (verb === 'suspend' ? agents.suspend(name, undefined, local) : agents[verb](name, operator)).then(
            (token) => ({ token: token ?? entry?.token ?? '' }),
            () => undefined,
          );
          expect(result !== undefined).toBe(allowed);
          if (result === undefined) continue;
          if (verb === 'remove') model.delete(name);
          else {
            const state =
              verb === 'revoke' ? 'revoked' : verb === 'suspend' ? 'suspended' : verb === 'rotate' ? entry?.state : 'active';
            model.set(name, { state: state ?? 'active', token: result.token });
          }
        }
        for (const now of [agents, await restart()]) {
          expect(new Map(now.list().map(({ name, state }) => [name, state]))).toEqual(
            new Map([...model].map(([name, { state }]) => [name, state])),
          );
          for (const [name, { token }] of model) expect(now.authenticate(token)?.name).toBe(name);
        }
      }),
      { numRuns: 10 },
    );
  });

  test('[DECOY-2] what is suspended at once passes nothing while the record is not to be had, and is suspended for good when it is', async () => {
    const { agents, audit, clock, ended, restart } = await bench(open);
    await agents.add('kimi', operator);
    audit.fail(true);
    await agents.suspendAtOnce('kimi', 'a decoy');
    expect(() => agents.assertActive('kimi')).toThrow(expect.objectContaining({ code: 'agents.suspended' }));
    expect((await restart()).get('kimi')?.state).toBe('active');
    audit.fail(false);
    clock.advance(5_000);
    await expect.poll(() => agents.get('kimi')?.state).toBe('suspended');
    expect((await restart()).get('kimi')).toMatchObject({ state: 'suspended', reason: 'a decoy' });
    // What it is told reaches it first.
    expect(ended).toEqual([]);
    clock.advance(250);
    expect(ended).toEqual(['kimi:suspended']);
    expect(audit.of('agent.suspended')).toMatchObject([{ actor: 'daemon' }]);
    await agents.unsuspend('kimi', operator);
    agents.assertActive('kimi');
    await agents.suspendAtOnce('nobody', 'a decoy');
  });
});
