import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Migration } from '../kernel/database.ts';
import { describeDatabases } from '../../test/support/databases.ts';
import type { TestDatabase } from '../../test/support/databases.ts';

function tableStep(name: string, table: string, ran: string[] = []): Migration {
  return {
    name,
    async up(queries) {
      ran.push(name);
      await queries.schema.createTable(table).addColumn('id', 'integer').execute();
    },
  };
}

/** Names of the tables in this database's own schema, sorted. */
async function tables({ dialect, queries }: TestDatabase): Promise<string[]> {
  const { rows } = await (
    dialect === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_schema where type = 'table'`
      : sql<{ name: string }>`select table_name as name from information_schema.tables where table_schema = current_schema()`
  ).execute(queries);
  return rows.map(({ name }) => name).sort();
}

describeDatabases('[STORE-1] migrations', (open) => {
  test('each runs once, in the order of names within a slice and of slices as given, also over several starts', async () => {
    const ran: string[] = [];
    const first = [tableStep('b/002-two', 'b2', ran), tableStep('b/001-one', 'b1', ran), tableStep('a/001-one', 'a1', ran)];
    const db = await open();
    await db.migrate(first);
    await db.migrate(first);
    await db.close();
    await (await open(db.url)).migrate([...first, tableStep('b/003-three', 'b3', ran)]);
    expect(ran).toEqual(['b/001-one', 'b/002-two', 'a/001-one', 'b/003-three']);
  });

  test('one that fails leaves nothing of itself and keeps what ran before it', async () => {
    const db = await open();
    const broken: Migration = {
      name: 'a/002-broken',
      async up(queries) {
        await queries.schema.createTable('half').addColumn('id', 'integer').execute();
        throw new Error('no');
      },
    };
    await expect(db.migrate([tableStep('a/001-one', 'a1'), broken])).rejects.toThrow('no');
    expect(await tables(db)).toEqual(['a1', 'sallyport_migrations']);
    await db.migrate([tableStep('a/001-one', 'a1'), tableStep('a/002-broken', 'half')]);
    expect(await tables(db)).toEqual(['a1', 'half', 'sallyport_migrations']);
  });

  test('a database that a newer version has changed is refused and left as it is', async () => {
    const db = await open();
    await db.migrate([tableStep('a/001-one', 'a1'), tableStep('z/001-future', 'z1')]);
    await expect(db.migrate([tableStep('a/001-one', 'a1'), tableStep('a/002-two', 'a2')])).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'platform.database_newer',
      message: expect.stringContaining('z/001-future') as string,
    });
    expect(await tables(db)).toEqual(['a1', 'sallyport_migrations', 'z1']);
  });

  test('a step that is missing before one that ran is refused rather than run out of order', async () => {
    const db = await open();
    await db.migrate([tableStep('a/002-two', 'a2')]);
    await expect(db.migrate([tableStep('a/001-one', 'a1'), tableStep('a/002-two', 'a2')])).rejects.toMatchObject({
      code: 'platform.migration_gap',
    });
    expect(await tables(db)).toEqual(['a2', 'sallyport_migrations']);
  });

  test('names that could not be ordered or told apart are refused before anything runs', async () => {
    const db = await open();
    await expect(db.migrate([tableStep('one', 'a1')])).rejects.toMatchObject({ code: 'platform.migration_name' });
    const twice = [tableStep('a/001-one', 'a1'), tableStep('a/001-one', 'a2')];
    await expect(db.migrate(twice)).rejects.toMatchObject({ code: 'platform.migration_name' });
    expect(await tables(db)).toEqual([]);
  });
});
