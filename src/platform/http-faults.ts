// What can go wrong between us and an HTTP upstream, each with one sentence and what to do. `data.sent` is false only when it is certain
// that the upstream did nothing. Knows no session.
import { AppError } from '../kernel/errors.ts';
import { readFrame } from '../wire/frame-slice.ts';

/** An answer with a status that is no success. */
export interface HttpRefusal {
  readonly status: number;
  /** Its beginning. */
  readonly body: string;
  readonly retryAfterMs: number | undefined;
  /** Of a redirect; never followed. */
  readonly location: string | undefined;
  /** `WWW-Authenticate`: what the upstream wants of who asks. */
  readonly challenge?: string | undefined;
}

const maxShown = 200;

/** No connection came about, so nothing was sent. */
export function unreachable(origin: string, error: Error & { readonly code?: string }): AppError {
  return new AppError(
    'unavailable',
    'fleet.unreachable',
    `The upstream cannot be reached at ${origin}: ${whyUnreachable(error)}.`,
    {
      hint: 'See that the server runs and that its URL in sallyport.yaml is right; it is tried again.',
      data: { sent: false },
      cause: error,
    },
  );
}

function whyUnreachable({ code = '', message }: Error & { readonly code?: string }): string {
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its name cannot be resolved';
  if (code === 'EADDRRULED') return message;
  if (code === 'ETIMEDOUT') return 'no connection within 10 s';
  if (/CERT|SELF_SIGNED|ALTNAME|ISSUER/.test(code)) return `its TLS certificate is not accepted (${code})`;
  return (code === '' ? message : code).slice(0, maxShown);
}

/** The connection ended after the request was on its way. */
export function cutOff(): AppError {
  return new AppError(
    'unavailable',
    'fleet.failed',
    'The upstream closed the connection before it answered; what the call did is unknown.',
    {
      hint: 'If the call writes, look at what it did before calling again.',
      data: { sent: true },
    },
  );
}

export function unanswered(): AppError {
  return broken('ended its response without an answer to the request');
}

/** The upstream broke HTTP or MCP in a way that leaves the outcome open. `what` follows "The upstream". */
export function broken(what: string): AppError {
  return new AppError('unavailable', 'fleet.protocol', `The upstream ${what}.`, {
    hint: 'See that its URL in sallyport.yaml is that of an MCP endpoint; else ask its authors.',
    data: { sent: true },
  });
}

export function sessionLost(why: string): AppError {
  return new AppError('unavailable', 'fleet.session_lost', `The upstream no longer knows its session (${why}).`, {
    hint: 'Make the same call again; a new session is begun.',
    data: { sent: false },
  });
}

export function stopped(): AppError {
  return new AppError('unavailable', 'fleet.exited', 'The session with the upstream was closed.', { data: { sent: true } });
}

/** A refusal that is about the request: nothing was done, except where the upstream itself failed. */
export function refused(refusal: HttpRefusal): AppError {
  const { status, body, retryAfterMs, location, challenge } = refusal;
  if (status === 401 || status === 403) return authBroken(status, challenge);
  if (status >= 300 && status < 400) return redirected(status, location);
  const said = messageIn(body);
  const sentence = `The upstream answered with HTTP ${status}${said === undefined ? '' : `: ${said}`}.`.replace('..', '.');
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status === 429 || (status === 503 && retryAfterMs !== undefined)) {
    return new AppError('unavailable', 'fleet.refused', sentence, {
      hint: 'Wait, then make the same call again.',
      ...wait,
      data: { sent: false, status },
    });
  }
  if (status >= 500) {
    return new AppError('unavailable', 'fleet.failed', sentence, {
      hint: 'If the call writes, look at what it did before calling again.',
      ...wait,
      data: { sent: true, status },
    });
  }
  return new AppError('unavailable', 'fleet.refused', sentence, {
    hint: 'See that its URL in sallyport.yaml is that of an MCP endpoint.',
    ...wait,
    data: { sent: false, status },
  });
}

function authBroken(status: number, challenge: string | undefined): AppError {
  return new AppError(
    'unavailable',
    'fleet.auth_broken',
    `The upstream wants a login it does not have: it answered with HTTP ${status}.`,
    {
      hint: 'A human has to log in to it or let this machine in, then run: sallyport upstream retry NAME',
      data: { sent: false, status, ...(challenge !== undefined && { challenge }) },
    },
  );
}

function redirected(status: number, location: string | undefined): AppError {
  const where = location === undefined ? '' : ` to ${location.split('?')[0]?.slice(0, maxShown) ?? ''}`;
  return new AppError(
    'unavailable',
    'fleet.refused',
    `The upstream redirects${where} (HTTP ${status}); redirects are not followed.`,
    {
      hint: 'If that is where it lives now, put that URL into sallyport.yaml and accept it.',
      data: { sent: false, status },
    },
  );
}

/** The words of a JSON-RPC error in a body. */
function messageIn(body: string): string | undefined {
  const frame = readFrame(body);
  if (frame?.kind !== 'error') return undefined;
  const { message } = JSON.parse(frame.json) as { message: string };
  return message.slice(0, maxShown);
}
