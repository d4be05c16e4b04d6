// An approval that does something of its own: shown before, done in the commit of the decision, once, or not at all.
import { beforeEach, expect, test } from 'vitest';
import { createDesk, minute, proof, registrationQuestion, type Desk } from '../../../test/support/approval-desk.ts';
import { describeDatabases } from '../../../test/support/databases.ts';
import type { Deed } from './deed.ts';

describeDatabases('the deed of an approval', (open) => {
  let desk: Desk;
  let done: string[];
  /** What the deed would do, as it is now. */
  let now: string;

  beforeEach(async () => {
    desk = await createDesk(open);
    done = [];
    now = 'as asked';
    desk.policy.findDeed = async ({ id }) => deed(id, now);
  });

  function deed(id: string, what: string, stage = async (): Promise<void> => undefined): Deed {
    return {
      shown: { does: what },
      async carryOut(_, commit) {
        await commit(async () => {
          await stage();
          return [{ event: 'upstream.added', actor: 'operator', facts: { upstream: id } }];
        });
        done.push(what);
        return { ok: true, told: `It is ${what}.` };
      },
    };
  }

  const events = (): string[] => desk.audit.entries.map(({ event }) => event);

  test('[REG-5] what is done is what was shown, whatever would be shown by then', async () => {
    const { id } = await desk.approvals.ask(registrationQuestion);
    const { approvals } = desk;
    expect(await desk.shown('approvals.approve', { id })).toMatchObject({
      does: 'as asked',
      proposed: { upstream: { name: 'wiki' } },
      buys: expect.stringContaining("the upstream 'wiki'"),
    });
    const shown = await approvals.deed(await approvals.decidable(id));
    now = 'another';
    expect(await approvals.approve(id, undefined, proof, shown)).toMatchObject({
      approval: { state: 'approved' },
      outcome: { told: 'It is as asked.' },
    });
    expect(done).toEqual(['as asked']);
    expect(events()).toEqual(['approval.requested', 'approval.approved', 'upstream.added']);
    expect(desk.audit.decisions()).toBe(1);
  });

  test('[REG-5] where it cannot be written the decision is not made either, and may be made later', async () => {
    const { id } = await desk.approvals.ask(registrationQuestion);
    const broken = deed(id, 'broken', () => Promise.reject(new Error('no room')));
    await expect(desk.approvals.approve(id, undefined, proof, broken)).rejects.toThrow('no room');
    expect(await desk.approvals.get(id)).toMatchObject({ state: 'pending' });
    expect([done, events()]).toEqual([[], ['approval.requested']]);
    await desk.approvals.approve(id, undefined, proof, deed(id, 'mended'));
    expect(done).toEqual(['mended']);
  });

  test('[REG-8] it is done once, never after a denial or its time', async () => {
    const { id } = await desk.approvals.ask(registrationQuestion);
    const both = await Promise.allSettled([1, 2].map((one) => desk.approvals.approve(id, undefined, proof, deed(id, `by ${one}`))));
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(done).toHaveLength(1);
    const denied = await desk.approvals.ask({ ...registrationQuestion, args: { upstream: { name: 'two' } } });
    await desk.approvals.deny(denied.id, '', proof);
    const late = await desk.approvals.ask({ ...registrationQuestion, args: { upstream: { name: 'three' } } });
    desk.clock.advance(11 * minute);
    for (const one of [denied, late])
      await expect(desk.approvals.approve(one.id, undefined, proof, deed(one.id, 'late'))).rejects.toMatchObject({
        kind: 'conflict',
      });
    expect(done).toHaveLength(1);
  });

  test('[REG-8] it waits through a restart, and buys no call', async () => {
    const { id } = await desk.approvals.ask(registrationQuestion);
    const again = await desk.restart();
    expect((await again.approvals.ask(registrationQuestion)).id).toBe(id);
    await again.approvals.approve(id, undefined, proof, deed(id, 'done'));
    const { agent, capability, args } = registrationQuestion;
    expect(await again.approvals.spend({ agent, capability, args })).toBeUndefined();
  });
});
