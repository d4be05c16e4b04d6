// Why a login cannot be made or used, in words and codes. Quotes of strangers only what is bounded and printable, and of secrets nothing.
import { AppError, type ErrorDetail } from '../../../kernel/errors.ts';
import { printable } from '../../../lib/printable.ts';

function refusal(kind: AppError['kind'], code: string, message: string, hint: string, more: ErrorDetail = {}): AppError {
  return new AppError(kind, code, message, { hint, ...more });
}

/** Text of a stranger in a sentence of ours. */
export function quoted(text: string): string {
  return printable(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}

export function loginCommand(upstream: string): string {
  return `run in your terminal: scopegate auth login ${upstream}`;
}

export function notLedThere(from: string, to: string): AppError {
  const hint = 'If that is where it lives, the server has to name it by an https URL that can be reached from everywhere.';
  const message = `${quoted(from)} names ${quoted(to)}, which is neither https nor a place it may lead to`;
  return refusal('denied', 'auth.url_refused', message, hint);
}

export function undiscovered(where: string, what: string): AppError {
  const hint = 'Check the URL of the upstream, and with its authors how to log in. A server without metadata needs auth.issuer.';
  return refusal('unavailable', 'auth.not_discovered', `${quoted(where)} ${what}`, hint);
}

/** RFC 8414 §3.3, RFC 9207 §2.4: compared character by character. */
export function otherIssuer(expected: string, found: string | undefined): AppError {
  const said = found === undefined ? 'does not say who it is' : `says it is '${quoted(found)}'`;
  const hint = 'Nothing was sent there. If that is the right server, its operators have to name it the same everywhere.';
  return refusal('denied', 'auth.other_issuer', `The authorization server '${quoted(expected)}' ${said}.`, hint);
}

export function otherResource(url: string, found: string): AppError {
  const hint = 'A token for another resource would be handed to this one, so nothing was asked for. Check the URL of the upstream.';
  return refusal('denied', 'auth.other_resource', `${quoted(url)} says that it is '${quoted(found)}'.`, hint);
}

export function issuerNotOffered(pinned: string): AppError {
  const hint = 'Correct auth.issuer of the entry, or see with the operators of the upstream whom it trusts now.';
  return refusal('denied', 'auth.other_issuer', `The upstream does not take tokens of '${quoted(pinned)}' (auth.issuer).`, hint);
}

export function noPkce(issuer: string): AppError {
  const hint =
    'Its operators have to support PKCE with S256 (RFC 7636, RFC 8414); without it a code can be used by whoever sees it.';
  return refusal('unavailable', 'auth.not_supported', `'${quoted(issuer)}' does not say that it supports PKCE.`, hint);
}

export function notSupported(issuer: string, what: string, hint: string): AppError {
  return refusal('unavailable', 'auth.not_supported', `'${quoted(issuer)}' ${what}.`, hint);
}

export function noClient(issuer: string): AppError {
  const hint =
    'Register one there by hand (redirect URI http://127.0.0.1/callback) and write its id as auth.clientId into sallyport.yaml.';
  return refusal('unavailable', 'auth.no_client', `'${quoted(issuer)}' takes no client without a registration by hand.`, hint);
}

/** What an endpoint answered when it did not give what was asked for. */
export function answeredError(endpoint: string, error: string, description: string | undefined): AppError {
  const why = description === undefined ? '' : `: ${quoted(description)}`;
  return refusal('denied', 'auth.refused', `${endpoint} answered '${quoted(error)}'${why}`, 'Log in again.', { data: { error } });
}

export function malformed(endpoint: string, what: string): AppError {
  return refusal('unavailable', 'auth.bad_answer', `${endpoint} ${what}`, 'Tell its operators; it is tried again.');
}

export function badRedirect(what: string): AppError {
  const hint = 'Nothing was logged in to. Start again; if it happens again, do not trust that authorization server.';
  return refusal('denied', 'auth.bad_redirect', `What the browser brought back ${what}.`, hint);
}

export function loginExpired(): AppError {
  return refusal('unavailable', 'auth.login_expired', 'Nobody confirmed the login in time.', 'Start it again.');
}

export function needsLogin(upstream: string, why: string): AppError {
  const message = `The login of upstream '${upstream}' ${why}.`;
  return refusal('unavailable', 'auth.needs_reauth', message, `Ask the human to ${loginCommand(upstream)}`);
}

export function restsAfterFailure(upstream: string, why: string, retryAfterMs: number): AppError {
  const message = `The access token of upstream '${upstream}' has run out, and a new one cannot be had now: ${why}.`;
  return refusal('unavailable', 'auth.unreachable', message, 'Wait, then make the same call again.', { retryAfterMs });
}

export function noOAuth(upstream: string): AppError {
  const hint =
    'See the entries with: sallyport upstream ls. A login needs auth: {type: oauth2, secretRef: NAME} in an accepted entry.';
  return refusal('not_found', 'auth.no_login', `Upstream '${upstream}' is not one that is logged in to.`, hint);
}

export function otherLogin(what: string): AppError {
  return refusal('conflict', 'auth.other_login', `This login is not the one that was signed: ${what}.`, 'Log in again.');
}

export function refTaken(ref: string): AppError {
  const hint = `Write another name as auth.secretRef of the entry, or remove the secret: sallyport secret rm ${ref}`;
  return refusal(
    'conflict',
    'auth.ref_taken',
    `'${ref}' is a secret that a person put into the vault; no login takes its place.`,
    hint,
  );
}
