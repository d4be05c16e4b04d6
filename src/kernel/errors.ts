// One error for everything a caller can cause or must be told. Faces map `kind` to their own codes and print `message`,
// except for `internal`, whose message stays with the operator's log.

export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'denied'
  | 'not_found'
  | 'conflict'
  | 'limited'
  | 'unavailable'
  | 'internal';

export interface ErrorDetail {
  /** What the reader can do about it, one sentence in the imperative. */
  readonly hint?: string;
  /** Milliseconds after which the same call may succeed. */
  readonly retryAfterMs?: number;
  /** Machine-readable facts of the failure; never a secret value. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export class AppError extends Error {
  readonly kind: ErrorKind;
  /** `<slice>.<reason>`, e.g. `policy.denied`; each slice keeps its own closed list in its model. */
  readonly code: string;
  readonly hint: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(kind: ErrorKind, code: string, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = 'AppError';
    this.kind = kind;
    this.code = code;
    this.hint = detail.hint;
    this.retryAfterMs = detail.retryAfterMs;
    this.data = detail.data;
  }
}

/** The AppError inside any thrown value; whatever else was thrown becomes `internal` and keeps its cause. */
export function asAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new AppError('internal', 'kernel.unexpected', message, { cause: thrown });
}
