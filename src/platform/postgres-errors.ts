// What PostgreSQL's SQLSTATEs (PostgreSQL documentation, appendix A) and a lost connection mean to the product. Never repeats
// the connection URL: it may hold a password.
import { AppError } from '../kernel/errors.ts';

/** The SQLSTATE or system error code of a driver error. */
function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
}

/** True when running the same transaction again may succeed: serialization failure or deadlock, anywhere in the chain of causes. */
export function worthRetrying(thrown: unknown): boolean {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (['40001', '40P01'].includes(codeOf(error))) return true;
  }
  return false;
}

export function postgresError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const code = codeOf(thrown);
  const detail = { cause: thrown };
  if (code.startsWith('23'))
    return new AppError('conflict', 'platform.constraint', `the database refused a row: ${message}`, detail);
  if (code === '53100') {
    return new AppError('unavailable', 'platform.disk_full', 'the PostgreSQL server has no room left', {
      ...detail,
      hint: 'Free some disk space on the server; nothing was lost.',
    });
  }
  if (code.startsWith('28') || code === '3D000' || code === '42501') {
    return new AppError('unavailable', 'platform.database_unusable', `PostgreSQL refuses: ${message}`, {
      ...detail,
      hint: 'Check user, password, database and rights of the `storage` setting.',
    });
  }
  // No SQLSTATE: the connection failed or ended. 08: connection exceptions, 53: resources, 57P: shut down by its administrator.
  if (!/^[0-9A-Z]{5}$/.test(code) || /^(08|53|57P)/.test(code)) {
    return new AppError('unavailable', 'platform.database_unreachable', `PostgreSQL cannot be reached: ${message || code}`, {
      ...detail,
      hint: 'Check that the server runs and that the `storage` setting names it.',
      retryAfterMs: 1_000,
    });
  }
  return new AppError('internal', 'platform.database_error', message, detail);
}
