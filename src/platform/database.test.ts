import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Migration, Transaction } from '../kernel/database.ts';
import { describeDatabases } from '../../test/support/databases.ts';
import type { OpenDatabase, TestDatabase } from '../../test/support/databases.ts';
import { openDatabase } from './database.ts';

const counters: Migration = {
  name: 'test/001-counters',
  up: (queries) =>
    queries.schema
      .createTable('counters')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('n', 'bigint', (column) => column.notNull())
      .execute(),
};

async function openCounters(open: OpenDatabase): Promise<TestDatabase> {
  const db = await open();
  await db.migrate([counters]);
  return db;
}

const put = (tx: Transaction, name: string, n: number): Promise<unknown> => tx.insertInto('counters').values({ name, n }).execute();

async function read(tx: Transaction | TestDatabase['queries'], name: string): Promise<number> {
  const row: { n: number } = await tx.selectFrom('counters').select('n').where('name', '=', name).executeTakeFirstOrThrow();
  return row.n;
}

const write = (tx: Transaction, name: string, n: number): Promise<unknown> =>
  tx.updateTable('counters').set({ n }).where('name', '=', name).execute();

const names = async (db: TestDatabase): Promise<string[]> =>
  (await db.queries.selectFrom('counters').select('name').execute()).map((row) => String(row['name'])).sort();

describeDatabases('[STORE-1] a database', (open, dialect) => {
  test('what a transaction wrote is there when it resolves, and after closing and opening again', async () => {
    const db = await openCounters(open);
    expect(await db.transaction((tx) => put(tx, 'a', 1).then(() => 'answer'))).toBe('answer');
    expect(await names(db)).toEqual(['a']);
    await db.close();
    expect(await names(await open(db.url))).toEqual(['a']);
  });

  test('a transaction that throws leaves nothing, and its own error comes out', async () => {
    const db = await openCounters(open);
    const work = db.transaction(async (tx) => {
      await put(tx, 'a', 1);
      throw new RangeError('changed my mind');
    });
    await expect(work).rejects.toThrow(new RangeError('changed my mind'));
    expect(await names(db)).toEqual([]);
  });

  test('a transaction cannot commit after one of its statements failed, even when the work swallowed the failure', async () => {
    const db = await openCounters(open);
    const work = db.transaction(async (tx) => {
      await put(tx, 'a', 1);
      await put(tx, 'a', 2).catch(() => undefined);
    });
    await expect(work).rejects.toMatchObject({ code: 'platform.transaction_failed' });
    expect(await names(db)).toEqual([]);
  });

  test('nobody outside sees a row before its transaction committed, and reading does not wait for it', async () => {
    const db = await openCounters(open);
    const wrote = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const work = db.transaction(async (tx) => {
      await put(tx, 'a', 1);
      wrote.resolve();
      await mayCommit.promise;
    });
    await wrote.promise;
    expect(await names(db)).toEqual([]);
    mayCommit.resolve();
    await work;
    expect(await names(db)).toEqual(['a']);
  });

  test('concurrent read-modify-write transactions lose no update', async () => {
    const db = await openCounters(open);
    await db.transaction((tx) => put(tx, 'a', 0));
    await Promise.all(Array.from({ length: 8 }, () => db.transaction(async (tx) => write(tx, 'a', (await read(tx, 'a')) + 1))));
    expect(await read(db.queries, 'a')).toBe(8);
  });

  test('two transactions that each rely on what the other changes do not both win (no write skew)', async () => {
    const db = await openCounters(open);
    await db.transaction((tx) => put(tx, 'a', 1).then(() => put(tx, 'b', 1)));
    const stepDown = (name: string): Promise<unknown> =>
      db.transaction(async (tx) => {
        // One of the two has to stay on duty.
        if ((await read(tx, 'a')) + (await read(tx, 'b')) > 1) await write(tx, name, 0);
      });
    await Promise.all([stepDown('a'), stepDown('b')]);
    expect((await read(db.queries, 'a')) + (await read(db.queries, 'b'))).toBe(1);
  });

  test('a query made from inside a transaction, but not through it, is refused at once', async () => {
    const db = await openCounters(open);
    const beside = { code: 'platform.query_outside_transaction', kind: 'internal' };
    await expect(db.transaction(() => names(db))).rejects.toMatchObject(beside);
    await expect(db.transaction(() => db.transaction((tx) => put(tx, 'a', 1)))).rejects.toMatchObject(beside);
    expect(await names(db)).toEqual([]);
  });

  test('what a transaction started but did not wait for may query when it is over', async () => {
    const db = await openCounters(open);
    const over = Promise.withResolvers<void>();
    const late = await db.transaction(async (tx) => {
      await put(tx, 'a', 1);
      return { seen: over.promise.then(() => names(db)) };
    });
    over.resolve();
    expect(await late.seen).toEqual(['a']);
  });

  test('a refused row is a conflict, whichever database refused it', async () => {
    const db = await openCounters(open);
    await db.transaction((tx) => put(tx, 'a', 1));
    const refused = { kind: 'conflict', code: 'platform.constraint' };
    await expect(db.transaction((tx) => put(tx, 'a', 2))).rejects.toMatchObject(refused);
    await expect(db.queries.insertInto('counters').values({ name: 'b', n: null }).execute()).rejects.toMatchObject(refused);
  });

  test('a mistake in a statement is an internal error, and the database goes on', async () => {
    const db = await openCounters(open);
    await expect(db.queries.selectFrom('nowhere').selectAll().execute()).rejects.toMatchObject({
      kind: 'internal',
      code: 'platform.database_error',
    });
    expect(await names(db)).toEqual([]);
  });

  test('instants, counts and sums are numbers', async () => {
    const db = await openCounters(open);
    const instant = Date.UTC(2026, 0, 1);
    await db.transaction((tx) => put(tx, 'a', instant).then(() => put(tx, 'b', 1)));
    const row = await db.queries
      .selectFrom('counters')
      .select(({ fn }) => [fn.countAll().as('rows'), fn.sum('n').as('sum'), fn.max('n').as('max')])
      .executeTakeFirst();
    expect(row).toEqual({ rows: 2, sum: instant + 1, max: instant });
  });

  test('an integer that a number cannot hold is refused, never rounded', async () => {
    const db = await openCounters(open);
    await db.queries
      .insertInto('counters')
      .values({ name: 'a', n: 2n ** 60n })
      .execute();
    await expect(read(db.queries, 'a')).rejects.toMatchObject({ kind: 'internal' });
  });

  test('how many rows a statement touched is told', async () => {
    const db = await openCounters(open);
    const inserted = await db.queries
      .insertInto('counters')
      .values([
        { name: 'a', n: 1 },
        { name: 'b', n: 1 },
      ])
      .executeTakeFirst();
    expect(inserted.numInsertedOrUpdatedRows).toBe(2n);
    const updated = await db.queries.updateTable('counters').set({ n: 2 }).executeTakeFirst();
    expect(updated.numUpdatedRows).toBe(2n);
    const deleted = await db.queries.deleteFrom('counters').where('name', '=', 'a').returning('name').execute();
    expect(deleted).toEqual([{ name: 'a' }]);
  });

  test('[STORE-2] the event loop turns while a long synced transaction runs', async () => {
    const db = await openCounters(open);
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await db.transaction((tx) =>
      sql`insert into counters with recursive c(i) as (select 1 union all select i + 1 from c where i < 200000)
          select 'row number ' || i, i from c`.execute(tx),
    );
    clearInterval(timer);
    // On the event loop it would have been none.
    expect(turns).toBeGreaterThan(10);
  });

  test('[STORE-3] a second daemon on the same database is refused until the first lets go, and told who it is', async () => {
    const db = await open();
    const second = await open(db.url);
    const onLost = (): never => expect.unreachable('nobody took the lock away');
    const lock = await db.lock(onLost);
    await expect(second.lock(onLost)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'platform.locked',
      message: expect.stringContaining(`pid ${process.pid}`) as string,
      hint: expect.any(String) as string,
    });
    await lock.release();
    await (await second.lock(onLost)).release();
  });

  test('[STORE-3] databases of their own do not keep each other out', async () => {
    const [one, other] = [await open(), await open()];
    const lock = await one.lock(() => undefined);
    await expect(other.lock(() => undefined).then((second) => second.release())).resolves.toBeUndefined();
    await lock.release();
  });

  test('the setting names the dialect', async () => {
    expect((await open()).dialect).toBe(dialect);
  });
});

test('a storage setting nobody knows is refused with what would be known, and without repeating it', async () => {
  for (const url of ['', 'mysql://root:secret@host/db', 'sqlite:state.db', 'state.db', 'postgres:']) {
    await expect(openDatabase(url)).rejects.toMatchObject({
      kind: 'invalid',
      code: 'platform.storage_unknown',
      message: expect.not.stringContaining('secret') as string,
      hint: expect.stringContaining('sqlite:/absolute/path') as string,
    });
  }
});
