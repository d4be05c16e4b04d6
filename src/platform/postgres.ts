// The database for those who outgrow one file: PostgreSQL through a pool, loaded only when it is configured.
import { hostname } from 'node:os';
import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import { Pool, types } from 'pg';
import type { ClientConfig } from 'pg';
import type { Database } from '../kernel/database.ts';
import { AppError } from '../kernel/errors.ts';
import type { Log } from '../kernel/ports.ts';
import { migrate } from './database-migrations.ts';
import { createTransactionScope } from './database-scope.ts';
import { createPostgresDriver } from './postgres-driver.ts';
import { postgresError, worthRetrying } from './postgres-errors.ts';

export interface PostgresOptions {
  /** `postgres://…` as libpq takes it; a unix socket is `postgres://user@/database?host=/folder/of/the/socket`. */
  readonly url: string;
  readonly log?: Log;
}

/** Times a transaction is run when others keep getting in its way. */
const attempts = 10;
/** PostgreSQL 14 is the oldest release still maintained when this was written. */
const oldestServer = 140_000;

// Integers beyond 2^53 are refused rather than rounded; no store keeps such numbers.
function exactInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new AppError('internal', 'platform.database_error', `the database holds an integer that is not exact: ${text}`);
}

const { INT8, NUMERIC } = types.builtins;
/** As SQLite answers: bigint (also `count(*)`) and numeric (also `sum(bigint)`) are numbers. */
const typeParsers = {
  getTypeParser: ((oid: Parameters<typeof types.getTypeParser>[0], format: 'text') => {
    if (oid === INT8) return exactInteger;
    if (oid === NUMERIC) return Number;
    return types.getTypeParser(oid, format);
  }) as typeof types.getTypeParser,
};

export function postgresClientOptions(url: string): ClientConfig {
  return {
    connectionString: url,
    // What `pg_stat_activity`, and a second daemon that finds the lock taken, show of this one.
    application_name: `sallyport ${hostname()} pid ${process.pid}`,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    types: typeParsers,
  };
}

/** Rejects with the `platform.database_*` codes when the server cannot be reached, refuses, or is too old. */
export async function createPostgresDatabase({ url, log }: PostgresOptions): Promise<Database> {
  let pool: Pool;
  try {
    pool = new Pool({ ...postgresClientOptions(url), max: 10, allowExitOnIdle: true });
  } catch (thrown) {
    throw postgresError(thrown);
  }
  // A connection that breaks is replaced by the pool, and whoever uses it gets the error with the statement; without listeners,
  // of the pool for idle ones and of each client for those in use, it would end the process.
  pool.on('error', (error) => log?.warn('a PostgreSQL connection was lost', { error: error.message }));
  pool.on('connect', (client) => client.on('error', () => {}));

  const scope = createTransactionScope();
  // oxlint-disable-next-line typescript/no-explicit-any -- each store narrows the tables to its own
  const queries = new Kysely<any>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => createPostgresDriver(pool, scope),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });

  const transaction: Database['transaction'] = async (work) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await queries.transaction().execute((tx) => scope.inside(() => work(tx)));
      } catch (thrown) {
        if (!worthRetrying(thrown)) throw thrown;
        if (attempt === attempts) {
          throw new AppError('unavailable', 'platform.contention', `others got in the way of a transaction ${attempts} times`, {
            retryAfterMs: 1_000,
            cause: thrown,
          });
        }
        // Full jitter, so that those who collided do not collide again.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 5 * 2 ** attempt));
      }
    }
  };

  try {
    const { rows } = await sql<{ version: string }>`select current_setting('server_version_num') as version`.execute(queries);
    if (Number(rows[0]?.version) < oldestServer) {
      throw new AppError('unavailable', 'platform.database_too_old', 'this PostgreSQL server is older than version 14', {
        hint: 'Use PostgreSQL 14 or newer.',
      });
    }
  } catch (thrown) {
    await queries.destroy();
    throw thrown;
  }
  return {
    dialect: 'postgres',
    queries,
    transaction,
    migrate: (migrations) => migrate({ queries, transaction }, migrations),
    close: () => queries.destroy(),
  };
}
