// What SQLite's result codes (https://www.sqlite.org/rescode.html) mean to the product. Knows no statement.
import { AppError } from '../kernel/errors.ts';
import type { SqliteFailure } from './sqlite-worker.ts';

/** `path` is named in the errors an operator can act on. */
export function sqliteError({ message, errcode }: SqliteFailure, path: string): AppError {
  // The low byte is the primary code.
  switch ((errcode ?? 0) & 0xff) {
    case 19: // SQLITE_CONSTRAINT
      return new AppError('conflict', 'platform.constraint', `the database refused a row: ${message}`);
    case 13: // SQLITE_FULL
      return new AppError('unavailable', 'platform.disk_full', `there is no room left for ${path}`, {
        hint: 'Free some disk space; nothing was lost.',
      });
    case 11: // SQLITE_CORRUPT
    case 26: // SQLITE_NOTADB
      return new AppError('unavailable', 'platform.database_corrupt', `${path} is damaged or no database: ${message}`, {
        hint: 'Restore the file from a backup; it is left untouched.',
      });
    case 5: // SQLITE_BUSY
    case 6: // SQLITE_LOCKED
      return new AppError('unavailable', 'platform.database_busy', `another process holds ${path}: ${message}`, {
        hint: 'End the other process, then try again.',
        retryAfterMs: 1_000,
      });
    case 3: // SQLITE_PERM
    case 8: // SQLITE_READONLY
    case 10: // SQLITE_IOERR
    case 14: // SQLITE_CANTOPEN
      return new AppError('unavailable', 'platform.database_unusable', `${path} cannot be opened, read or written: ${message}`, {
        hint: 'Check that the folder exists, belongs to you and can be written.',
      });
    default:
      return new AppError('internal', 'platform.database_error', message);
  }
}
