// Picks the database that the `storage` setting names, and the lock that keeps a second daemon off it.
import type { Database } from '../kernel/database.ts';
import { AppError } from '../kernel/errors.ts';
import type { Log } from '../kernel/ports.ts';
import { lockFile } from './file-lock.ts';
import type { Lock } from './file-lock.ts';
import { createSqliteDatabase } from './sqlite.ts';

export interface OwnedDatabase extends Database {
  /**
   * Keeps every other daemon off this database until released or until this process ends. Throws `platform.locked`.
   * `onLost`: the lock is gone although nobody released it; stop writing.
   */
  lock(onLost: (reason: AppError) => void): Promise<Lock>;
}

const sqliteScheme = 'sqlite:';

/** `sqlite:/absolute/path`, `sqlite::memory:` or `postgres://…`. Rejects with `platform.*` codes that say what to do. */
export async function openDatabase(url: string, { log }: { readonly log?: Log } = {}): Promise<OwnedDatabase> {
  if (url.startsWith(sqliteScheme)) {
    const path = url.slice(sqliteScheme.length);
    if (path !== ':memory:' && !path.startsWith('/')) throw unknownStorage();
    const database = await createSqliteDatabase({ path });
    return { ...database, lock: async () => (path === ':memory:' ? nobodyElse : lockFile(`${path}.lock`, path)) };
  }
  if (/^postgres(ql)?:\/\//.test(url)) {
    const { createPostgresDatabase } = await import('./postgres.ts');
    const { lockPostgres } = await import('./postgres-lock.ts');
    const database = await createPostgresDatabase({ url, ...(log && { log }) });
    return { ...database, lock: (onLost) => lockPostgres(url, onLost) };
  }
  throw unknownStorage();
}

/** A database in memory is this process's alone. */
const nobodyElse: Lock = { release: async () => {} };

function unknownStorage(): AppError {
  return new AppError('invalid', 'platform.storage_unknown', 'the `storage` setting names no database that is known here', {
    hint: 'Leave it out for the embedded one, or give `sqlite:/absolute/path` or `postgres://user@host/database`.',
  });
}
