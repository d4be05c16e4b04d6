// What a yes buys and how often, what a no means, and what an attacker gets for a changed argument or a second try.
import { beforeEach, describe, expect, test } from 'vitest';
import { callQuestion, createDesk, minute, proof, requestQuestion, type Desk } from '../../../test/support/approval-desk.ts';
import { describeDatabases } from '../../../test/support/databases.ts';
import { denialMemoryMs, type Approval } from './model.ts';

const call = { agent: 'kimi', capability: callQuestion.capability, args: { count: 2, to: 'prod' }, toolHash: 'h1' };

describeDatabases('decisions', (open) => {
  let desk: Desk;
  beforeEach(async () => {
    desk = await createDesk(open);
  });

  describe('a call that was approved', () => {
    let approval: Approval;
    beforeEach(async () => {
      approval = await desk.approvals.ask(callQuestion);
      await desk.approvals.approve(approval.id, undefined, proof);
    });

    test('[APPR-2] buys one execution with exactly these arguments; a second call finds nothing', async () => {
      expect(await desk.approvals.spend(call)).toMatchObject({ id: approval.id, usedAt: desk.clock.now() });
      expect(await desk.approvals.spend(call)).toBeUndefined();
      expect(await desk.approvals.get(approval.id)).toMatchObject({ state: 'approved', usedAt: desk.clock.now() });
      expect(desk.audit.of('approval.used')).toEqual([
        {
          event: 'approval.used',
          actor: 'agent:kimi',
          facts: { approval: approval.id, agent: 'kimi', capability: 'aws:call:deploy', tool_hash: 'h1' },
        },
      ]);
      const next = await desk.approvals.ask(callQuestion);
      expect(next.id).not.toBe(approval.id);
      await desk.approvals.approve(next.id, undefined, proof);
      expect(await desk.approvals.spend(call)).toMatchObject({ id: next.id });
    });

    test('[APPR-2] one changed argument, another agent, tool, definition or no arguments buy nothing', async () => {
      for (const other of [
        { ...call, args: { to: 'prod', count: 3 } },
        { ...call, args: { to: 'prod', count: '2' } },
        { ...call, args: { to: 'prod', count: 2, force: true } },
        { ...call, args: { to: 'prod' } },
        { ...call, args: {} },
        { ...call, args: undefined },
        { ...call, agent: 'other' },
        { ...call, capability: 'aws:call:destroy' },
        { ...call, toolHash: 'h2' },
      ]) {
        expect(await desk.approvals.spend(other)).toBeUndefined();
      }
      expect(await desk.approvals.spend(call)).toBeDefined();
    });

    test('[APPR-2] of many calls at once exactly one gets it', async () => {
      const spent = await Promise.all(Array.from({ length: 10 }, () => desk.approvals.spend(call)));
      expect(spent.filter((one) => one !== undefined)).toHaveLength(1);
      expect(desk.audit.of('approval.used')).toHaveLength(1);
    });

    test('[APPR-2] two daemons that both believe in it do not both get it: the row decides', async () => {
      await desk.db.queries.updateTable('approvals_approval').set({ used_at: 1 }).execute();
      expect(await desk.approvals.spend(call)).toBeUndefined();
      expect(desk.audit.of('approval.used')).toEqual([]);
    });

    test('[APPR-2] it buys no grant', () => {
      expect(desk.grants.active()).toEqual([]);
    });

    test('[APPR-2] it must be used within the approval ttl after the decision', async () => {
      desk.clock.advance(10 * minute);
      expect(await desk.approvals.spend(call)).toBeUndefined();
      const later = await desk.approvals.ask(callQuestion);
      desk.clock.advance(9 * minute);
      await desk.approvals.approve(later.id, undefined, proof);
      desk.clock.advance(10 * minute - 1);
      expect(await desk.approvals.spend(call)).toMatchObject({ id: later.id });
    });

    test('[APPR-2] after another policy came into force the call asks again', async () => {
      desk.policy.version = 'v2';
      expect(await desk.approvals.spend(call)).toBeUndefined();
      desk.policy.version = 'v1';
      expect(await desk.approvals.spend(call)).toBeDefined();
    });

    test('[STORE-1] it can still be spent after a restart, once', async () => {
      desk = await desk.restart();
      expect(await desk.approvals.spend(call)).toMatchObject({ id: approval.id });
      desk = await desk.restart();
      expect(await desk.approvals.spend(call)).toBeUndefined();
    });

    test('[APPR-2] while nothing can be recorded nothing is spent, and it is not lost', async () => {
      desk.audit.fail(true);
      await expect(desk.approvals.spend(call)).rejects.toMatchObject({ code: 'audit.unavailable' });
      desk.audit.fail(false);
      expect(await desk.approvals.spend(call)).toBeDefined();
    });
  });

  describe('a request that was approved', () => {
    test('[APPR-3] is a grant for its ttl, in the commit of the decision, and nothing to spend', async () => {
      const { id } = await desk.approvals.ask(requestQuestion);
      const { approval, grant } = await desk.approvals.approve(id, undefined, proof);
      expect(approval).toMatchObject({ state: 'approved', decidedAt: desk.clock.now(), proof });
      expect(desk.grants.covering('kimi', 'aws:deploy:prod', 'human')).toEqual(grant);
      expect(grant).toMatchObject({ origin: 'human', approvalId: id, ttlMs: 15 * minute, rule: 'aws:deploy:*' });
      const events = desk.audit.entries.map(({ event, actor }) => [event, actor]);
      expect(events).toEqual([
        ['approval.requested', 'agent:kimi'],
        ['approval.approved', 'operator'],
        ['grant.issued', 'operator'],
      ]);
      expect(desk.audit.of('approval.approved')[0]?.facts).toMatchObject({
        approval: id,
        policy: 'v1',
        ttl_ms: 15 * minute,
        proof,
      });
      expect(desk.audit.decisions()).toBe(1);
      expect(await desk.approvals.spend({ ...call, capability: 'aws:deploy:prod' })).toBeUndefined();
    });

    test('[APPR-3] a shorter ttl is kept, a longer one refused', async () => {
      const { id } = await desk.approvals.ask(requestQuestion);
      await expect(desk.approvals.approve(id, 16 * minute, proof)).rejects.toMatchObject({
        kind: 'invalid',
        code: 'approvals.bad_ttl',
      });
      expect(desk.grants.active()).toEqual([]);
      const { grant } = await desk.approvals.approve(id, 5 * minute, proof);
      expect(grant?.ttlMs).toBe(5 * minute);
      expect((await (await desk.restart()).approvals.get(id))?.state).toBe('approved');
    });

    test('[APPR-3] what the policy denies by now is not granted, and stays undecided', async () => {
      const { id } = await desk.approvals.ask(requestQuestion);
      desk.policy.stillAsks = ({ capability }) => {
        throw new Error(`${capability} is denied now`);
      };
      await expect(desk.approvals.approve(id, undefined, proof)).rejects.toThrow('is denied now');
      expect(desk.grants.active()).toEqual([]);
      expect((await desk.approvals.get(id))?.state).toBe('pending');
    });

    test('[APPR-3] while nothing can be recorded there is neither decision nor grant', async () => {
      const { id } = await desk.approvals.ask(requestQuestion);
      desk.audit.fail(true);
      await expect(desk.approvals.approve(id, undefined, proof)).rejects.toMatchObject({ code: 'audit.unavailable' });
      desk.audit.fail(false);
      desk = await desk.restart();
      expect(desk.grants.active()).toEqual([]);
      expect((await desk.approvals.get(id))?.state).toBe('pending');
    });

    test('two decisions at once: one wins, the other is told, one record', async () => {
      const { id } = await desk.approvals.ask(requestQuestion);
      const decisions = await Promise.allSettled([
        desk.approvals.approve(id, undefined, proof),
        desk.approvals.deny(id, 'no', proof),
      ]);
      expect(decisions.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(decisions.find((one) => one.status === 'rejected')?.reason).toMatchObject({ code: 'approvals.not_pending' });
      const state = (await desk.approvals.get(id))?.state;
      expect(desk.grants.active()).toHaveLength(state === 'approved' ? 1 : 0);
      expect([...desk.audit.of('approval.approved'), ...desk.audit.of('approval.denied')]).toHaveLength(1);
      await expect(desk.approvals.approve(id, undefined, proof)).rejects.toMatchObject({ code: 'approvals.not_pending' });
    });
  });

  describe('a denial', () => {
    test('[APPR-4] answers the same question for ten minutes with its reason, and another question not at all', async () => {
      const { id } = await desk.approvals.ask(callQuestion);
      await desk.approvals.deny(id, 'not on a Friday', proof);
      desk.clock.advance(minute);
      await expect(desk.approvals.ask({ ...callQuestion, reason: 'pretty please' })).rejects.toMatchObject({
        kind: 'denied',
        code: 'approvals.denied',
        message: 'A human denied this request: not on a Friday',
        retryAfterMs: denialMemoryMs - minute,
        data: { approval_id: id, reason: 'not on a Friday' },
      });
      await expect(desk.approvals.ask({ ...callQuestion, args: { to: 'dev' } })).resolves.toMatchObject({ state: 'pending' });
      desk = await desk.restart();
      desk.clock.advance(denialMemoryMs - minute - 1);
      await expect(desk.approvals.ask(callQuestion)).rejects.toMatchObject({ code: 'approvals.denied', retryAfterMs: 1 });
      desk.clock.advance(1);
      await expect(desk.approvals.ask(callQuestion)).resolves.toMatchObject({ state: 'pending' });
    });

    test('[APPR-4] the reason is sealed on the record, and nothing can be spent', async () => {
      const { id } = await desk.approvals.ask(callQuestion);
      await desk.approvals.deny(id, 'because of Bob', proof);
      const [entry] = desk.audit.of('approval.denied');
      expect(JSON.stringify(entry?.facts)).not.toContain('Bob');
      expect(entry).toMatchObject({ actor: 'operator', facts: { proof }, sealed: { decision_reason: 'because of Bob' } });
      expect(await desk.approvals.spend(call)).toBeUndefined();
    });
  });

  test('[STORE-1] an agent that ended leaves no open question and nothing to spend, and others keep theirs', async () => {
    const { id: open } = await desk.approvals.ask(requestQuestion);
    const { id: approved } = await desk.approvals.ask(callQuestion);
    await desk.approvals.approve(approved, undefined, proof);
    const { id: foreign } = await desk.approvals.ask({ ...requestQuestion, agent: 'other' });
    expect(await desk.approvals.withdraw('kimi')).toBe(2);
    expect(await desk.approvals.spend(call)).toBeUndefined();
    await expect(desk.approvals.approve(open, undefined, proof)).rejects.toMatchObject({ code: 'approvals.expired' });
    desk = await desk.restart();
    expect(await desk.approvals.spend(call)).toBeUndefined();
    expect((await desk.approvals.list()).map(({ id }) => id)).toEqual([foreign]);
    expect(await desk.approvals.withdraw('kimi')).toBe(0);
  });

  test('[STORE-1] an unreadable row is locked state: shown to nobody, bought by nobody', async () => {
    const { id } = await desk.approvals.ask(callQuestion);
    for (const damage of [{ args: '{"to":"dev","count":2}' }, { args: '{' }, { agent: 'other' }, { ttl_ms: 1 }, { state: 'yes' }]) {
      const sound = await desk.db.queries.selectFrom('approvals_approval').selectAll().executeTakeFirstOrThrow();
      await desk.db.queries.updateTable('approvals_approval').set(damage).execute();
      await expect(desk.approvals.get(id)).rejects.toMatchObject({ code: 'approvals.locked' });
      await expect(desk.approvals.approve(id, undefined, proof)).rejects.toMatchObject({ code: 'approvals.locked' });
      await desk.db.queries.updateTable('approvals_approval').set(sound).execute();
    }
    await expect(desk.approvals.approve(id, undefined, proof)).resolves.toBeDefined();
  });
});
