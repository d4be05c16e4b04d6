// The one database behind every store: SQLite embedded, PostgreSQL when configured. Types only; drivers are in platform/.
import type { Kysely, Transaction as KyselyTransaction } from 'kysely';

export type Dialect = 'sqlite' | 'postgres';

// Each store narrows this to its own tables; tables of other slices stay out of its sight.
// oxlint-disable-next-line typescript/no-explicit-any
export type Queries<Tables = any> = Kysely<Tables>;
// oxlint-disable-next-line typescript/no-explicit-any
export type Transaction<Tables = any> = KyselyTransaction<Tables>;

/** One forward-only step. `name` is `<slice>/<number>-<what>`; runs once, in order of `name` within its slice. */
export interface Migration {
  readonly name: string;
  up(queries: Queries): Promise<void>;
}

export interface Database {
  readonly dialect: Dialect;
  readonly queries: Queries;
  /** Serializable enough for one writer: SQLite runs transactions one at a time, PostgreSQL at SERIALIZABLE with bounded retry. Durable when it resolves. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Called once, with the migrations of every slice that uses the database: a name it does not know was made by a newer version and is refused. */
  migrate(migrations: readonly Migration[]): Promise<void>;
  close(): Promise<void>;
}
