// Rows that rights come from, tried as somebody who can write the database: every edit, every older copy, every forged draft.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createAuditHome, type AuditHome } from '../../../test/support/audit-home.ts';
import { describeDatabases } from '../../../test/support/databases.ts';
import type { Database, Migration, Queries } from '../../kernel/database.ts';
import { createDigest } from '../../platform/crypto.ts';
import type { AuditLog } from './audit.ts';
import { countOf, createRightsSeal } from './rights-seal.ts';
import { putOutbox } from './store.ts';

const table: Migration = {
  name: 'test/001-rights',
  async up(queries) {
    await queries.schema.createTable('rights').addColumn('who', 'text').addColumn('level', 'integer').execute();
  },
};
const read = async (queries: Queries): Promise<readonly object[][]> => [await queries.selectFrom('rights').selectAll().execute()];
const locked = expect.objectContaining({ kind: 'unavailable', code: 'audit.locked' }) as unknown;
const start = (home: AuditHome): Promise<AuditLog> => home.start({ rights: read });

const grant = (audit: AuditLog, who: string): Promise<unknown> =>
  audit.commit(
    async (tx) => {
      await tx.insertInto('rights').values({ who, level: 1 }).execute();
      return { value: undefined, entries: [{ event: 'agent.added', actor: 'operator', facts: { agent: who } }] };
    },
    { decision: true },
  );

const edits: [string, (db: Database) => Promise<unknown>][] = [
  ['a row added', ({ queries }) => queries.insertInto('rights').values({ who: 'mallory', level: 1 }).execute()],
  ['a row changed', ({ queries }) => queries.updateTable('rights').set({ level: 9 }).where('who', '=', 'anna').execute()],
  ['a row taken out', ({ queries }) => queries.deleteFrom('rights').where('who', '=', 'bob').execute()],
  ['a row twice', ({ queries }) => queries.insertInto('rights').values({ who: 'anna', level: 1 }).execute()],
  ['all rows taken out', ({ queries }) => queries.deleteFrom('rights').execute()],
];

describeDatabases('rights that do not come from the record', (open) => {
  async function home(): Promise<{ home: AuditHome; db: Database; audit: AuditLog }> {
    const db = await open();
    const home = await createAuditHome(db, [table]);
    const audit = await start(home);
    for (const who of ['anna', 'bob']) await grant(audit, who);
    return { home, db, audit };
  }

  it('[SEC-1] every change carries a seal with a count, and what was recorded starts again', async () => {
    const { home: house, audit } = await home();
    await audit.close();
    const again = await start(house);
    await grant(again, 'carl');
    const seals = (await house.records()).flatMap(({ rights }) => (rights === undefined ? [] : [countOf(rights)]));
    expect(seals).toEqual([1, 2, 3]);
    house.crash();
    await expect(start(house)).resolves.toBeDefined();
  });

  it.each(edits)('[SEC-1] %s while the log is closed locks the next start', async (_, edit) => {
    const { home: house, db, audit } = await home();
    await audit.close();
    await edit(db);
    await expect(start(house)).rejects.toEqual(locked);
  });

  it.each(edits)('[SEC-1] %s while the log is open refuses every further change, and that is on the record', async (_, edit) => {
    const { home: house, db, audit } = await home();
    await edit(db);
    await expect(grant(audit, 'carl')).rejects.toEqual(locked);
    expect((await house.records()).at(-1)).toMatchObject({ event: 'rights.edited', actor: 'daemon' });
    expect((await db.queries.selectFrom('rights').selectAll().where('who', '=', 'carl').execute()).length).toBe(0);
  });

  it('[SEC-1] an older copy does not fit, not even with the records of its time in the outbox', async () => {
    const { home: house, db, audit } = await home();
    const [, first] = (await house.records()).filter(({ event }) => event !== 'log.opened');
    await audit.close();
    await db.queries.deleteFrom('rights').where('who', '=', 'bob').execute();
    await expect(start(house)).rejects.toEqual(locked);
    const { v: _v, t: _t, ...draft } = first!;
    const row = { position: 99, id: 'old', committedAt: 1, draft: JSON.stringify({ ...draft, id: 'old' }) };
    await db.transaction((tx) => putOutbox(tx, 'sallyport/test', [row]));
    await expect(start(house)).rejects.toEqual(locked);
  });

  it('[SEC-1] a trigger or a view, which would ride along a change and be sealed with it, locks as well', async () => {
    const { home: house, db, audit } = await home();
    const trigger =
      db.dialect === 'sqlite'
        ? sql`create trigger more after insert on rights begin insert into rights values ('mallory', 9); end`
        : sql`create rule more as on insert to rights where new.who <> 'mallory' do also insert into rights values ('mallory', 9)`;
    await trigger.execute(db.queries);
    await expect(grant(audit, 'carl')).rejects.toEqual(locked);
    expect(await db.queries.selectFrom('rights').select('who').where('who', 'in', ['carl', 'mallory']).execute()).toEqual([]);
    await audit.close();
    await expect(start(house)).rejects.toEqual(locked);
  });

  it('[SEC-1] rows before any record are nobody’s', async () => {
    const db = await open();
    const house = await createAuditHome(db, [table]);
    await db.queries.insertInto('rights').values({ who: 'mallory', level: 1 }).execute();
    await expect(start(house)).rejects.toEqual(locked);
  });

  it('[SEC-3] a record in the outbox that this installation did not write is not taken over', async () => {
    const { home: house, db, audit } = await home();
    await audit.close();
    const forged = JSON.stringify({ id: 'x', actor: 'operator', event: 'approval.approved' });
    for (const draft of [forged, `${'A'.repeat(43)} ${forged}`, '']) {
      await db.transaction((tx) => putOutbox(tx, 'sallyport/test', [{ position: 99, id: 'x', committedAt: 1, draft }]));
      await expect(start(house)).rejects.toEqual(locked);
      await db.queries.deleteFrom('audit_outbox').where('id', '=', 'x').execute();
    }
    await expect(start(house)).resolves.toBeDefined();
  });
});

describe('after a commit whose end nobody saw', () => {
  const sealOver = (rows: () => object[]) =>
    createRightsSeal({
      digest: createDigest(),
      key: new Uint8Array(32),
      read: () => Promise.resolve([rows()]),
      hooks: () => Promise.resolve(0),
      last: undefined,
    });
  const nothing = undefined as unknown as Queries;

  it('[AUD-11] both ends are taken, and the next change settles which', async () => {
    for (const happened of [true, false]) {
      let rows: object[] = [];
      const seal = sealOver(() => rows);
      await seal.assertUnmoved(nothing);
      rows = [{ who: 'anna' }];
      seal.moved(await seal.next(nothing), false);
      if (!happened) rows = [];
      await seal.assertUnmoved(nothing);
      rows = [...rows, { who: 'bob' }];
      const after = await seal.next(nothing);
      expect(countOf(after)).toBe(happened ? 2 : 1);
      seal.moved(after, true);
      await seal.assertUnmoved(nothing);
      rows = [];
      await expect(seal.assertUnmoved(nothing)).rejects.toEqual(locked);
    }
  });
});
