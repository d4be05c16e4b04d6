// Why an upstream is given nothing, in words and codes. None of them knows a value.
import { AppError } from '../../kernel/errors.ts';
import { shortestValue, type AuthErrorCode } from './model.ts';

function refusal(kind: AppError['kind'], code: AuthErrorCode, message: string, hint: string, data: object = {}): AppError {
  return new AppError(kind, code, message, { hint, data: { sent: false, ...data } });
}

/** `missing` is not empty. */
export function waitingForSecrets(upstream: string, missing: readonly string[]): AppError {
  const named = missing.map((ref) => `'${ref}'`).join(', ');
  const [what, them] = missing.length === 1 ? ['a secret that is', 'it'] : ['secrets that are', 'them'];
  return refusal(
    'unavailable',
    'auth.waiting_for_secret',
    `Upstream '${upstream}' waits for ${what} not in the vault yet: ${named}.`,
    `A person adds ${them} with: ${missing.map((ref) => `sallyport secret add ${ref}`).join(' and ')}`,
    { refs: missing },
  );
}

export function unfitValue(ref: string, why: string): AppError {
  return refusal(
    'unavailable',
    'auth.unfit_value',
    `The value of secret '${ref}' cannot be handed out: ${why}.`,
    `Replace it with: sallyport secret rotate ${ref}`,
    { refs: [ref] },
  );
}

export function tooShort(ref: string): AppError {
  return unfitValue(ref, `it is shorter than ${shortestValue} characters, so it could not be masked in what comes back`);
}

export function unsupported(upstream: string, type: string): AppError {
  return refusal(
    'unavailable',
    'auth.unsupported',
    `Upstream '${upstream}' wants to be logged in to by '${type}', which this gateway cannot do.`,
    'Change the auth of its entry in sallyport.yaml and accept it.',
  );
}

/** A spec that was replaced, or never accepted, asks for what another one was accepted with. */
export function unbound(upstream: string): AppError {
  return refusal(
    'denied',
    'auth.unbound',
    `Upstream '${upstream}' is given no secret: it is not, or no longer, what was accepted under this name.`,
    `Look at it and run: sallyport upstream accept ${upstream}`,
  );
}

/** What an upstream that answers 401 to a value as it is in the vault needs. */
export function staleAdvice(refs: readonly string[]): string {
  return `The upstream does not take the value of ${refs.map((ref) => `'${ref}'`).join(', ')}; replace it with: ${refs.map((ref) => `sallyport secret rotate ${ref}`).join(' or ')}`;
}
