// Why no token was minted, in words and codes. A sentence names the ref, the provider and the status; never a value or what a provider wrote.
import { AppError } from '../../kernel/errors.ts';
import type { AuthErrorCode } from './model.ts';

/** The call that wanted the token reached no upstream. */
const notSent = { sent: false };

export const addSecretAgain = (ref: string): string => `Give it again with: sallyport secret rotate ${ref}.`;

/** What the secret or the login is good for ended, or never began; only a person can mend it. */
export function refused(message: string, hint: string): AppError {
  return new AppError('unavailable', 'auth.refused' satisfies AuthErrorCode, message, { hint, data: notSent });
}

/** The secret itself cannot be what the entry says it is. `problem` is the end of the sentence. */
export function unusableSecret(ref: string, problem: string): AppError {
  return refused(`The secret '${ref}' ${problem}.`, addSecretAgain(ref));
}

/** Whoever mints cannot do it now. */
export function unreachable(message: string, retryAfterMs?: number): AppError {
  const hint = 'Try again later; if it lasts, look at the status page of the provider.';
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new AppError('unavailable', 'auth.unreachable' satisfies AuthErrorCode, message, { hint, data: notSent, ...wait });
}
