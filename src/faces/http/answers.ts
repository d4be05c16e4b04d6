// AppError on HTTP: one exhaustive map from kind to status, one body shape for every door of ours.
import type { AppError, ErrorKind } from '../../kernel/errors.ts';

export interface ErrorBody {
  readonly error: {
    readonly kind: ErrorKind;
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
    readonly retry_after_s?: number;
  };
}

export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 429 | 500 | 503;

export function statusOf(kind: ErrorKind): ErrorStatus {
  const statuses: Record<ErrorKind, ErrorStatus> = {
    invalid: 400,
    unauthenticated: 401,
    denied: 403,
    not_found: 404,
    conflict: 409,
    limited: 429,
    internal: 500,
    unavailable: 503,
  };
  return statuses[kind];
}

/** The message of an `internal` error stays in the log. */
export function bodyOf(error: AppError): ErrorBody {
  const hidden = error.kind === 'internal';
  return {
    error: {
      kind: error.kind,
      code: error.code,
      message: hidden ? 'something unexpected went wrong inside the daemon' : error.message,
      ...(hidden ? { hint: 'The log of the daemon has the details.' } : error.hint === undefined ? {} : { hint: error.hint }),
      ...(error.retryAfterMs === undefined ? {} : { retry_after_s: Math.ceil(error.retryAfterMs / 1000) }),
    },
  };
}
