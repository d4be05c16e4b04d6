// The errors of the fleet, each with what to do about it. One place, so that one failure has one sentence.
import { AppError } from '../../kernel/errors.ts';

export function notFound(upstream: string): AppError {
  return new AppError('not_found', 'fleet.not_found', `There is no upstream '${upstream}'.`, {
    hint: 'List them with: sallyport upstream ls',
  });
}

export function exists(upstream: string): AppError {
  return new AppError('conflict', 'fleet.exists', `There already is an upstream '${upstream}' in sallyport.yaml.`, {
    hint: `Remove it first with 'sallyport upstream rm ${upstream}', or edit the file and run 'sallyport upstream accept ${upstream}'.`,
  });
}

export function badSpec(message: string, hint: string): AppError {
  return new AppError('invalid', 'fleet.bad_spec', message, { hint });
}

export function badSettings(message: string, hint: string): AppError {
  return new AppError('invalid', 'fleet.bad_settings', message, { hint });
}

export function unaccepted(upstream: string, why: string): AppError {
  return new AppError('denied', 'fleet.unaccepted', `Upstream '${upstream}' is not started: ${why}.`, {
    hint: `Look at it and run: sallyport upstream accept ${upstream}`,
  });
}

export function disabled(upstream: string): AppError {
  return new AppError('unavailable', 'fleet.not_found', `Upstream '${upstream}' is disabled in sallyport.yaml.`, {
    hint: 'Set enabled: true to use it.',
  });
}

export function quarantined(upstream: string, tool: string): AppError {
  return new AppError(
    'denied',
    'fleet.quarantined',
    `The definition of '${upstream}__${tool}' is not the accepted one; a human has to look at it.`,
    {
      hint: `Ask the human to run: sallyport tools review ${upstream}`,
      data: { sent: false },
    },
  );
}

export function circuitOpen(upstream: string, retryAfterMs: number, last: string | undefined): AppError {
  return new AppError(
    'unavailable',
    'fleet.circuit_open',
    `Upstream '${upstream}' failed several times in a row and is left alone for now.${reason(last)}`,
    {
      hint: 'Wait and try again; a single call will then find out whether it works.',
      retryAfterMs: Math.ceil(retryAfterMs),
      data: { sent: false },
    },
  );
}

export function down(upstream: string, retryAfterMs: number, last: string | undefined): AppError {
  return new AppError('unavailable', 'fleet.down', `Upstream '${upstream}' is down and will be started again.${reason(last)}`, {
    hint: 'Wait and make the same call again.',
    retryAfterMs: Math.max(0, Math.ceil(retryAfterMs)),
    data: { sent: false },
  });
}

/** Parked: only a person gets it going again. */
export function loginNeeded(upstream: string, last: string | undefined): AppError {
  return new AppError(
    'unavailable',
    'fleet.auth_broken',
    `Upstream '${upstream}' needs a login and is left alone until then.${reason(last)}`,
    {
      hint: `Ask the human to see to its login and then run: sallyport upstream retry ${upstream}`,
      data: { sent: false },
    },
  );
}

/** Parked until the vault has them. */
export function waitingForSecrets(upstream: string, refs: readonly string[]): AppError {
  const named = refs.length === 0 ? '' : `: ${refs.map((ref) => `'${ref}'`).join(', ')}`;
  return new AppError(
    'unavailable',
    'auth.waiting_for_secret',
    `Upstream '${upstream}' waits for secrets that are not in the vault${named}.`,
    {
      hint: `Ask the human to run: ${(refs.length === 0 ? ['REF'] : refs).map((ref) => `sallyport secret add ${ref}`).join(' and ')}`,
      data: { sent: false, refs },
    },
  );
}

export function startTimedOut(upstream: string, startTimeoutMs: number): AppError {
  return new AppError(
    'unavailable',
    'fleet.start_failed',
    `Upstream '${upstream}' did not list its tools within ${startTimeoutMs} ms of its start.`,
    {
      hint: 'Raise startTimeoutMs in sallyport.yaml if it needs longer.',
      data: { sent: false },
    },
  );
}

/** An error from below the fleet, with the upstream's name in its sentence. */
export function named(upstream: string, error: AppError): AppError {
  if (!error.message.startsWith('The upstream ')) return error;
  return new AppError(error.kind, error.code, error.message.replace('The upstream ', `Upstream '${upstream}' `), {
    ...(error.hint === undefined ? {} : { hint: error.hint.replace('upstream retry NAME', `upstream retry ${upstream}`) }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    ...(error.data === undefined ? {} : { data: error.data }),
    cause: error.cause ?? error,
  });
}

function reason(last: string | undefined): string {
  return last === undefined ? '' : ` Last failure: ${last}`;
}
