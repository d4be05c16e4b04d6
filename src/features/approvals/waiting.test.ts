// The end of a question: woken by the decision, on time without one, and never asking the database again and again.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { callQuestion, createDesk, minute, proof, requestQuestion, type Desk } from '../../../test/support/approval-desk.ts';
import { describeDatabases } from '../../../test/support/databases.ts';

const never = new AbortController().signal;

/** Database replies take several turns of the event loop, and more of them on a busy machine. */
async function until(done: () => boolean): Promise<void> {
  await vi.waitUntil(done, { timeout: 10_000, interval: 2 });
}

describeDatabases('an open approval', (open) => {
  let desk: Desk;
  beforeEach(async () => {
    desk = await createDesk(open);
  });

  /** Whoever began to wait before has had its look at the row and now only listens. */
  const listening = async (id: string): Promise<void> => {
    for (let look = 0; look < 3; look += 1) await desk.approvals.get(id);
  };

  describe('expiry', () => {
    test('[APPR-5] an expired approval can be neither approved nor denied, from the very instant', async () => {
      const { id } = await desk.approvals.ask(requestQuestion);
      desk.audit.fail(true); // so that the row cannot be closed
      desk.clock.advance(10 * minute);
      desk.audit.fail(false);
      expect((await desk.approvals.get(id))?.state).toBe('expired');
      expect(await desk.approvals.list()).toEqual([]);
      const expired = { kind: 'conflict', code: 'approvals.expired' };
      await expect(desk.approvals.approve(id, undefined, proof)).rejects.toMatchObject(expired);
      await expect(desk.approvals.deny(id, 'no', proof)).rejects.toMatchObject(expired);
      expect(desk.grants.active()).toEqual([]);
    });

    test('[APPR-5] is on the record once, and the question may be asked anew', async () => {
      const { id } = await desk.approvals.ask(requestQuestion);
      desk.clock.advance(10 * minute);
      await until(() => desk.audit.of('approval.expired').length === 1);
      expect(desk.audit.of('approval.expired')[0]?.facts).toEqual({ approval: id, agent: 'kimi', capability: 'aws:deploy:prod' });
      expect((await desk.approvals.ask(requestQuestion)).id).not.toBe(id);
    });

    test('[APPR-5] what expired while the daemon was down is closed at the next start', async () => {
      const { id } = await desk.approvals.ask(requestQuestion);
      desk.approvals.close();
      desk.clock.advance(10 * minute);
      desk = await desk.restart();
      await expect(desk.approvals.approve(id, undefined, proof)).rejects.toMatchObject({ code: 'approvals.expired' });
      desk.clock.advance(0);
      await until(() => desk.audit.of('approval.expired').length === 1);
    });

    test('[APPR-5] a log that is down delays the record, not the end', async () => {
      const { id } = await desk.approvals.ask(requestQuestion);
      const waiting = desk.approvals.wait(id, 30 * minute, never);
      await listening(id);
      desk.audit.fail(true);
      desk.clock.advance(10 * minute);
      expect(await waiting).toMatchObject({ id, state: 'expired' });
      desk.audit.fail(false);
      desk.clock.advance(minute);
      await until(() => desk.audit.of('approval.expired').length === 1);
    });

    test('a decision ends it: no timer is left and nothing expires afterwards', async () => {
      const { id } = await desk.approvals.ask(callQuestion);
      expect(desk.clock.pending()).toBe(1);
      await desk.approvals.approve(id, undefined, proof);
      expect(desk.clock.pending()).toBe(0);
      desk.clock.advance(20 * minute);
      expect((await desk.approvals.get(id))?.state).toBe('approved');
    });
  });

  describe('waiting', () => {
    test('[APPR-6] everybody who waits is woken by the decision itself, with the grant already there', async () => {
      const { id } = await desk.approvals.ask(requestQuestion);
      const waits = Array.from({ length: 5 }, () =>
        desk.approvals.wait(id, minute, never).then((approval) => [approval.state, desk.grants.active().length]),
      );
      await listening(id);
      await desk.approvals.approve(id, undefined, proof);
      expect(await Promise.all(waits)).toEqual(waits.map(() => ['approved', 1]));
      expect(desk.clock.pending()).toBe(0);
    });

    test('[APPR-6] a denial wakes with its reason', async () => {
      const { id } = await desk.approvals.ask(requestQuestion);
      const waiting = desk.approvals.wait(id, minute, never);
      await desk.approvals.deny(id, 'no', proof);
      expect(await waiting).toMatchObject({ state: 'denied', decisionReason: 'no' });
    });

    test('[APPR-6] time, abort and shutdown end a wait with the question still open', async () => {
      const { id } = await desk.approvals.ask(requestQuestion);
      const timed = desk.approvals.wait(id, minute, never);
      await listening(id);
      desk.clock.advance(minute);
      expect((await timed).state).toBe('pending');
      const abort = new AbortController();
      const aborted = desk.approvals.wait(id, minute, abort.signal);
      abort.abort();
      expect((await aborted).state).toBe('pending');
      expect((await desk.approvals.wait(id, minute, AbortSignal.abort())).state).toBe('pending');
      const closing = desk.approvals.wait(id, minute, never);
      desk.approvals.close();
      expect((await closing).state).toBe('pending');
      expect(desk.clock.pending()).toBe(0);
    });

    test('[APPR-6] what is decided already answers at once; what does not exist says so', async () => {
      const { id } = await desk.approvals.ask(requestQuestion);
      await desk.approvals.approve(id, undefined, proof);
      expect((await desk.approvals.wait(id, minute, never)).state).toBe('approved');
      await expect(desk.approvals.wait('nothing', minute, never)).rejects.toMatchObject({ code: 'approvals.not_found' });
    });

    test('[APPR-6] waiting asks the database once at its start, not again and again', async () => {
      const { id } = await desk.approvals.ask(requestQuestion);
      const looks = vi.spyOn(desk.db.queries, 'selectFrom');
      const waiting = desk.approvals.wait(id, 9 * minute, never);
      await listening(id);
      looks.mockClear();
      for (let n = 0; n < 8 * 60; n += 1) desk.clock.advance(1_000);
      expect(looks).not.toHaveBeenCalled();
      looks.mockRestore();
      await desk.approvals.approve(id, undefined, proof);
      expect((await waiting).state).toBe('approved');
    });
  });
});
