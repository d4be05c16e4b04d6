import { describe, expect, it } from 'vitest';
import { createAuditHome, type AuditHome } from '../../../test/support/audit-home.ts';
import { describeDatabases } from '../../../test/support/databases.ts';
import type { Database } from '../../kernel/database.ts';
import type { AuditEntry } from './model.ts';
import { auditMigrations, putOutbox, readAnchor, readOutbox, settleOutbox } from './store.ts';

const entry = (n: number): AuditEntry => ({ event: 'grant.issued', actor: 'agent:a', facts: { n } });
const numbers = async (home: AuditHome): Promise<unknown[]> =>
  (await home.records()).filter(({ event }) => event === 'grant.issued').map(({ facts }) => facts?.['n']);

describeDatabases('the outbox', (open) => {
  it('[STORE-1] keeps rows in order for each origin, joins the transaction, and forgets what is settled', async () => {
    const db = await open();
    await db.migrate(auditMigrations);
    const row = (position: number): Parameters<typeof putOutbox>[2][number] => ({
      position,
      id: `id-${position}`,
      committedAt: 1_767_225_600_000 + position,
      draft: `{"n":${position}}`,
    });
    await db.transaction((tx) => putOutbox(tx, 'a', [row(2 ** 40), row(3)]));
    await db.transaction((tx) => putOutbox(tx, 'b', [row(4)]));
    await expect(
      db.transaction(async (tx) => {
        await putOutbox(tx, 'a', [row(5)]);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    await expect(db.transaction((tx) => putOutbox(tx, 'a', [{ ...row(6), id: 'id-3' }]))).rejects.toThrow(/unique/i);
    expect(await readOutbox(db, 'a')).toEqual([row(3), row(2 ** 40)]);
    expect(await readAnchor(db, 'a')).toBeUndefined();
    await settleOutbox(db, 'a', ['id-3', 'id-4'], 'first');
    await settleOutbox(db, 'a', [], 'second');
    expect(await readOutbox(db, 'a')).toEqual([row(2 ** 40)]);
    expect(await readOutbox(db, 'b')).toEqual([row(4)]);
    expect([await readAnchor(db, 'a'), await readAnchor(db, 'b')]).toEqual(['second', undefined]);
  });

  it('[AUD-11] a change and its records are one commit, in the order of the commits', async () => {
    const db: Database = await open();
    const home = await createAuditHome(db);
    const audit = await home.start();
    const values = await Promise.all(
      [1, 2, 3].map((n) =>
        audit.commit(async () => ({ value: n, entries: [entry(n * 10), entry(n * 10 + 1)] }), { decision: true }),
      ),
    );
    expect(values).toEqual([1, 2, 3]);
    expect(await numbers(home)).toEqual([10, 11, 20, 21, 30, 31]);
    await expect(
      audit.commit(async (tx) => {
        await putOutbox(tx, 'x', [{ position: 1, id: 'gone', committedAt: 1, draft: '{}' }]);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await readOutbox(db, 'x')).toEqual([]);
    expect(await numbers(home)).toHaveLength(6);
    await audit.close();
    expect(await readOutbox(db, 'sallyport/test')).toEqual([]);
  });

  it('[AUD-11] a kill between the commit and the log is finished at the next start, nothing twice and nothing lost', async () => {
    const db: Database = await open();
    const home = await createAuditHome(db);
    const audit = await home.start();
    await audit.commit(async () => ({ value: 0, entries: [entry(1)] }));
    // The disk takes nothing from the moment the transaction is done: the rows are committed, the log is not written.
    const value = await audit.commit(async () => {
      home.files.full = true;
      return { value: 'changed', entries: [entry(2), entry(3)] };
    });
    expect(value).toBe('changed');
    expect(await numbers(home)).toEqual([1]);
    await expect(audit.commit(async () => ({ value: 0, entries: [] }))).rejects.toMatchObject({ code: 'audit.unavailable' });
    home.crash();
    home.clock.advance(60_000);
    expect((await readOutbox(db, 'sallyport/test')).length).toBeGreaterThanOrEqual(2);
    await home.start();
    expect(await numbers(home)).toEqual([1, 2, 3]);
    expect((await home.records()).filter(({ committedAt }) => committedAt !== undefined)).toHaveLength(2);
    expect(await readOutbox(db, 'sallyport/test')).toEqual([]);
    home.crash();
    await home.start();
    expect(await numbers(home)).toEqual([1, 2, 3]);
  });
});

describe('the sequencer', () => {
  it('[AUD-11] a kill between the log and the clearing of the outbox duplicates nothing, with and without the resume hint', async () => {
    for (const settled of [true, false]) {
      const home = await createAuditHome();
      const audit = await home.start();
      await audit.commit(async () => ({ value: 0, entries: [entry(1), entry(2)] }));
      if (settled) await audit.evidence.settle();
      expect(await readOutbox(home.db, 'sallyport/test')).toHaveLength(2);
      home.crash();
      await home.start();
      expect(await numbers(home)).toEqual([1, 2]);
      expect(await readOutbox(home.db, 'sallyport/test')).toEqual([]);
    }
  });

  it('[AUD-11] [AUD-12] what was committed as the disk filled up comes first when there is room again', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    await audit.commit(async () => {
      home.files.full = true;
      return { value: 0, entries: [entry(1)] };
    });
    home.files.full = false;
    home.clock.advance(1_000);
    await expect.poll(() => audit.status().available).toBe(true);
    await audit.commit(async () => ({ value: 0, entries: [entry(2)] }));
    expect(await numbers(home)).toEqual([1, 2]);
    await audit.close();
    expect(await readOutbox(home.db, 'sallyport/test')).toEqual([]);
  });

  it('an entry no record can hold rolls the change back', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    const bad = audit.commit(async () => ({ value: 0, entries: [{ ...entry(1), facts: { share: 0.5 } }] }));
    await expect(bad).rejects.toMatchObject({ code: 'audit.bad_entry' });
    expect(await readOutbox(home.db, 'sallyport/test')).toEqual([]);
  });
});
