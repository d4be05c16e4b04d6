// Asking, as an agent in a hurry does it: twice, in a burst, with other words, with arguments changed afterwards.
import { beforeEach, expect, test, vi } from 'vitest';
import { callQuestion, createDesk, minute, proof, requestQuestion, type Desk } from '../../../test/support/approval-desk.ts';
import { describeDatabases } from '../../../test/support/databases.ts';

const call = { agent: 'kimi', capability: callQuestion.capability, args: { count: 2, to: 'prod' }, toolHash: 'h1' };

describeDatabases('asking a person', (open) => {
  let desk: Desk;
  beforeEach(async () => {
    desk = await createDesk(open);
  });

  test('[APPR-1] one question is one approval, whatever words come with it, with one record', async () => {
    const first = await desk.approvals.ask(callQuestion);
    const again = await desk.approvals.ask({ ...callQuestion, reason: 'please', args: { count: 2, to: 'prod' } });
    expect(again).toEqual(first);
    expect(first).toMatchObject({ ...callQuestion, state: 'pending', policyVersion: 'v1', requestedAt: desk.clock.now() });
    expect(first.expiresAt).toBe(desk.clock.now() + 10 * minute);
    expect(await desk.approvals.get(first.id)).toEqual(first);
    expect(desk.audit.entries).toEqual([
      {
        event: 'approval.requested',
        actor: 'agent:kimi',
        facts: {
          approval: first.id,
          agent: 'kimi',
          capability: 'aws:call:deploy',
          origin: 'call',
          rule: 'aws:call:*',
          ttl_ms: 15 * minute,
          expires_at: first.expiresAt,
          policy: 'v1',
          tool_hash: 'h1',
        },
        sealed: { reason: '', args: '{"count":2,"to":"prod"}' },
      },
    ]);
  });

  test('[APPR-1] the same question asked at once by many calls is put once', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => desk.approvals.ask(callQuestion)));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(await desk.approvals.list()).toHaveLength(1);
    expect(desk.audit.of('approval.requested')).toHaveLength(1);
  });

  test('[APPR-1] every part of a question makes another one', async () => {
    const { args: _, ...withoutArgs } = callQuestion;
    const variants = [
      callQuestion,
      withoutArgs,
      { ...callQuestion, args: {} },
      { ...callQuestion, args: { to: 'prod', count: '2' } },
      { ...callQuestion, toolHash: 'h2' },
      { ...callQuestion, agent: 'other' },
      { ...callQuestion, capability: 'aws:call:destroy', agent: 'other' },
      { ...callQuestion, ttlMs: minute, agent: 'other' },
      { ...callQuestion, guards: [{ to: 'prod' }], agent: 'other' },
      { ...requestQuestion, capability: callQuestion.capability, agent: 'other' },
    ];
    const ids = [];
    for (const question of variants) ids.push((await desk.approvals.ask(question)).id);
    expect(new Set(ids).size).toBe(variants.length);
  });

  test('[APPR-1] what was asked cannot be changed by the one who asked', async () => {
    const args = { to: 'dev', list: [1] };
    const { id } = await desk.approvals.ask({ ...callQuestion, args });
    args.to = 'prod';
    args.list.push(2);
    const asked = await desk.approvals.ask({ ...callQuestion, args: { to: 'dev', list: [1] } });
    expect(asked).toMatchObject({ id, args: { to: 'dev', list: [1] } });
    expect((await desk.approvals.get(id))?.args).toEqual({ to: 'dev', list: [1] });
    await desk.approvals.approve(id, undefined, proof);
    expect(await desk.approvals.spend({ ...call, args })).toBeUndefined();
    expect((await desk.approvals.spend({ ...call, args: { to: 'dev', list: [1] } }))?.args).toEqual({ to: 'dev', list: [1] });
  });

  test('[APPR-7] five are open for one agent, a sixth is refused until one is decided or expires', async () => {
    const ask = (n: number, agent = 'kimi') => desk.approvals.ask({ ...callQuestion, agent, args: { n } });
    const open = [];
    for (let n = 0; n < 5; n += 1) {
      open.push(await ask(n));
      desk.clock.advance(minute);
    }
    await expect(ask(5)).rejects.toMatchObject({ kind: 'limited', code: 'approvals.too_many', retryAfterMs: 5 * minute });
    expect((await ask(0)).id).toBe(open[0]?.id);
    await expect(ask(5, 'other')).resolves.toBeDefined();
    await desk.approvals.deny(open[4]?.id ?? '', 'no', proof);
    await expect(ask(5)).resolves.toBeDefined();
    await expect(ask(6)).rejects.toMatchObject({ code: 'approvals.too_many' });
    desk.clock.advance(5 * minute);
    await expect(ask(6)).resolves.toBeDefined();
  });

  test('[APPR-7] a burst does not slip past the bound', async () => {
    const burst = Array.from({ length: 20 }, (_, n) => desk.approvals.ask({ ...callQuestion, args: { n } }));
    const settled = await Promise.allSettled(burst);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(await desk.approvals.list()).toHaveLength(5);
  });

  test('nothing is asked while nothing can be recorded', async () => {
    desk.audit.fail(true);
    await expect(desk.approvals.ask(callQuestion)).rejects.toMatchObject({ code: 'audit.unavailable' });
    desk.audit.fail(false);
    expect(await desk.approvals.list({ all: true })).toEqual([]);
    await expect(desk.approvals.ask(callQuestion)).resolves.toBeDefined();
  });

  test('[APPR-2] a decision that comes while the question is still being synced is not overtaken by it', async () => {
    let release = (): void => undefined;
    desk.audit.syncing(() => new Promise((resolve) => (release = resolve)));
    const asking = desk.approvals.ask(callQuestion);
    const id = await vi.waitUntil(async () => (await desk.approvals.list())[0]?.id, { timeout: 10_000, interval: 5 });
    const releaseAsking = release;
    desk.audit.syncing(() => Promise.resolve());
    await desk.approvals.approve(id, undefined, proof);
    releaseAsking();
    expect((await asking).id).toBe(id);
    expect(await desk.approvals.spend(call)).toMatchObject({ id });
  });

  test('[APPR-7] what could not be recorded takes no place', async () => {
    desk.audit.fail(true);
    for (let n = 0; n < 9; n += 1) await expect(desk.approvals.ask({ ...callQuestion, args: { n } })).rejects.toThrow(/recorded/);
    desk.audit.fail(false);
    expect(desk.clock.pending()).toBe(0);
    for (let n = 0; n < 5; n += 1) await expect(desk.approvals.ask({ ...callQuestion, args: { n } })).resolves.toBeDefined();
  });

  test('a reason full of controls and half characters is kept as the agent sent it', async () => {
    const reason = 'a\u0000b\u202ec\nd\u001b[2J 🚪';
    const { id } = await desk.approvals.ask({ ...requestQuestion, reason });
    expect((await (await desk.restart()).approvals.get(id))?.reason).toBe(reason);
  });
});
