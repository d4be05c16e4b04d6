// How it goes with renewing one login, as a state machine over what the token endpoint answered (gate contract, scopegate_diagnose:
// `oauth.state`). Pure: instants are handed in, as milliseconds of the monotonic clock.

/** After this many failures in a row nothing is tried but when somebody calls, and now and then. */
export const mostFailures = 5;
const shortestRestMs = 5_000;
const longestRestMs = 15 * 60_000;
/** However many call, the endpoint is asked no more often than this while it fails. */
export const pokeRestMs = 5_000;

export type Course =
  | { readonly state: 'ok' }
  /** Tried again by itself at `retryAt`, and not before. */
  | { readonly state: 'backoff'; readonly failures: number; readonly why: string; readonly retryAt: number }
  /** Tried again when somebody calls, from `pokeAt` on, and by itself at `retryAt`. */
  | {
      readonly state: 'circuit_open';
      readonly failures: number;
      readonly why: string;
      readonly retryAt: number;
      readonly pokeAt: number;
    }
  /** Only a person can mend it. */
  | { readonly state: 'needs_reauth'; readonly failures: number; readonly why: string };

export const wellRenewed: Course = { state: 'ok' };

export interface Failure {
  readonly why: string;
  /** The endpoint read the request and will say no again: a call may still try. */
  readonly fatal: boolean;
  readonly at: number;
  /** 0 to 1. */
  readonly jitter: number;
}

/** 5 s, doubled each time up to 15 min, each up to a tenth longer so that several do not come at once. */
export function afterFailure(course: Course, { why, fatal, at, jitter }: Failure): Course {
  const failures = failuresOf(course) + 1;
  const rest = Math.min(shortestRestMs * 2 ** (failures - 1), longestRestMs);
  const retryAt = at + Math.round((fatal ? longestRestMs : rest) * (1 + 0.1 * jitter));
  return fatal || failures >= mostFailures
    ? { state: 'circuit_open', failures, why, retryAt, pokeAt: at + pokeRestMs }
    : { state: 'backoff', failures, why, retryAt };
}

export function afterRefusal(course: Course, why: string): Course {
  return { state: 'needs_reauth', failures: failuresOf(course) + 1, why };
}

export function failuresOf(course: Course): number {
  return course.state === 'ok' ? 0 : course.failures;
}

/** From when on a call may have the endpoint asked; `undefined`: now. */
export function restsUntil(course: Course): number | undefined {
  if (course.state === 'backoff') return course.retryAt;
  return course.state === 'circuit_open' ? course.pokeAt : undefined;
}

/** Refusals after which a login is over (RFC 6749 §5.2). */
const final: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_client']);
/** Said by some with status 400, and about the server alone. */
const passing: ReadonlySet<string> = new Set(['temporarily_unavailable', 'server_error', 'slow_down']);

export function gravityOf(error: string): 'final' | 'fatal' | 'passing' {
  return final.has(error) ? 'final' : passing.has(error) ? 'passing' : 'fatal';
}

const shortestWaitMs = 250;

/** How long from now until a token with this much life left is renewed: at 80 % of it, up to a tenth of that earlier or later. */
export function renewalIn(leftMs: number, jitter: number): number {
  return Math.max(shortestWaitMs, Math.round(leftMs * 0.8 * (0.9 + 0.2 * jitter)));
}
