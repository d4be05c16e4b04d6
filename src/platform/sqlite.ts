// The embedded database: one SQLite file, WAL, every commit synced. Refuses to know what is stored in it.
import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { Database } from '../kernel/database.ts';
import { migrate } from './database-migrations.ts';
import { createTransactionScope } from './database-scope.ts';
import { createSqliteDriver, openSqliteWorker } from './sqlite-driver.ts';

export interface SqliteOptions {
  /** Absolute path in a folder that exists (the file is made 0600), or `:memory:`. */
  readonly path: string;
  /** How long a statement waits for a lock that another process holds. */
  readonly busyTimeoutMs?: number;
}

/** Rejects with the `platform.database_*` codes when the file cannot be opened or is no database. */
export async function createSqliteDatabase({ path, busyTimeoutMs = 5_000 }: SqliteOptions): Promise<Database> {
  const channel = await openSqliteWorker({ path, busyTimeoutMs });
  const scope = createTransactionScope();
  // oxlint-disable-next-line typescript/no-explicit-any -- each store narrows the tables to its own
  const queries = new Kysely<any>({
    dialect: {
      // Kysely would queue everything on one connection; here only transactions and writes are, by the driver.
      createAdapter: () => Object.defineProperty(new SqliteAdapter(), 'supportsMultipleConnections', { value: true }),
      createDriver: () => createSqliteDriver(channel, scope, path !== ':memory:'),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  const transaction: Database['transaction'] = (work) => queries.transaction().execute((tx) => scope.inside(() => work(tx)));
  return {
    dialect: 'sqlite',
    queries,
    transaction,
    migrate: (migrations) => migrate({ queries, transaction }, migrations),
    close: () => queries.destroy(),
  };
}
