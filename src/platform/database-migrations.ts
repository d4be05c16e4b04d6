// Forward-only schema steps, each in a transaction of its own with the row that says it ran. Refuses a database that a newer
// version has touched: what that version relies on is not known here.
import type { Kysely } from 'kysely';
import type { Migration, Transaction } from '../kernel/database.ts';
import { AppError } from '../kernel/errors.ts';

interface MigrationTables {
  sallyport_migrations: { name: string; applied_at: number };
}

interface Deps {
  readonly queries: Kysely<MigrationTables>;
  readonly transaction: <T>(work: (tx: Transaction<MigrationTables>) => Promise<T>) => Promise<T>;
}

const namePattern = /^([a-z][a-z0-9_]*)\/\d+-[a-z0-9-]+$/;

function sliceOf(name: string): string {
  const slice = namePattern.exec(name)?.[1];
  if (slice === undefined) {
    throw new AppError('internal', 'platform.migration_name', `a migration is named <slice>/<number>-<what>, not ${name}`);
  }
  return slice;
}

/** Sorted by name within each slice, slices as given; names are unique. */
function inOrder(migrations: readonly Migration[]): readonly Migration[] {
  const bySlice = Map.groupBy(migrations, ({ name }) => sliceOf(name));
  const sorted = [...bySlice.values()].flatMap((steps) => steps.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
  if (new Set(sorted.map(({ name }) => name)).size !== sorted.length) {
    throw new AppError('internal', 'platform.migration_name', 'two migrations have the same name');
  }
  return sorted;
}

/** Runs what has not run yet. `migrations` is the complete list of every slice that uses this database. */
export async function migrate({ queries, transaction }: Deps, migrations: readonly Migration[]): Promise<void> {
  const steps = inOrder(migrations);
  await queries.schema
    .createTable('sallyport_migrations')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('applied_at', 'bigint', (column) => column.notNull())
    .execute();

  const rows = await queries.selectFrom('sallyport_migrations').select('name').orderBy('name').execute();
  const applied = new Set(rows.map(({ name }) => name));
  const known = new Set(steps.map(({ name }) => name));
  const unknown = [...applied].find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw new AppError('unavailable', 'platform.database_newer', `this database was made by a newer version (it has ${unknown})`, {
      hint: 'Install that version or a later one; older ones would misread what it stored.',
    });
  }
  for (const [index, { name }] of steps.entries()) {
    const later = steps.slice(index + 1).find((step) => sliceOf(step.name) === sliceOf(name) && applied.has(step.name));
    if (!applied.has(name) && later !== undefined) {
      throw new AppError(
        'unavailable',
        'platform.migration_gap',
        `${later.name} ran in this database, but ${name} before it did not`,
        {
          hint: 'Restore the database from a backup.',
        },
      );
    }
  }
  for (const step of steps.filter(({ name }) => !applied.has(name))) {
    await transaction(async (tx) => {
      await step.up(tx);
      await tx.insertInto('sallyport_migrations').values({ name: step.name, applied_at: Date.now() }).execute();
    });
  }
}
