import { expect, test } from 'vitest';
import { describeDatabases } from '../../test/support/databases.ts';

describeDatabases('a database', (open) => {
  test('[STORE-1] what a transaction wrote is there when it resolves', async () => {
    const db = await open();
    await db.migrate([
      {
        name: 'x/001-a',
        up: (q) =>
          q.schema
            .createTable('t')
            .addColumn('k', 'text', (c) => c.primaryKey())
            .addColumn('at', 'bigint')
            .execute(),
      },
    ]);
    await db.transaction((tx) => tx.insertInto('t').values({ k: 'a', at: 1_764_531_200_000 }).execute());
    expect(await db.queries.selectFrom('t').selectAll().execute()).toEqual([{ k: 'a', at: 1_764_531_200_000 }]);
  });
});
