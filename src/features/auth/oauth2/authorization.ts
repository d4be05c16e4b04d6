// Logging in with a browser: the authorization code grant with PKCE (RFC 6749 §4.1, RFC 7636, RFC 8252). Makes the URL, holds what the
// browser brings back against what was asked, and exchanges the code. Opens no browser and listens nowhere.
import { encodeBase64url } from '../../../lib/base64url.ts';
import type { Digest, Entropy, TokenHttp } from '../../../kernel/ports.ts';
import type { Client } from './client.ts';
import type { Discovered } from './discovery.ts';
import type { LoginTarget } from './login-target.ts';
import type { LoginRecord } from './login-record.ts';
import { renewed } from './login-record.ts';
import { answeredError, badRedirect, noPkce, notSupported, otherIssuer } from './refusals.ts';
import { askForTokens, type Tokens } from './token-endpoint.ts';

/** A login whose parties are known. */
export interface LoginPlan {
  readonly target: Pick<LoginTarget, 'upstream' | 'url'>;
  readonly found: Discovered;
  readonly client: Client;
  readonly redirectUri: string;
}

/** One visit to the authorization endpoint. `verifier` and `state` stay here until it is over. */
export interface Visit {
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
}

/** Throws `auth.not_supported` where a code could be used by whoever sees it, or where there is nothing to visit. */
export function beginVisit({ found, client, redirectUri }: LoginPlan, tools: { entropy: Entropy; digest: Digest }): Visit {
  const { server, scopes, resource } = found;
  if (server.authorizationEndpoint === undefined) {
    throw notSupported(server.issuer, 'has no page to log in at', 'Log in with a code instead: sallyport auth login NAME --device');
  }
  if (!server.pkce) throw noPkce(server.issuer);
  const [state, verifier] = [encodeBase64url(tools.entropy.bytes(32)), encodeBase64url(tools.entropy.bytes(32))];
  const url = new URL(server.authorizationEndpoint);
  const query: Record<string, string> = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: redirectUri,
    state,
    code_challenge: encodeBase64url(tools.digest.sha256(verifier)),
    code_challenge_method: 'S256',
    ...(resource !== undefined && { resource }),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    // OpenID Connect Core §11: consent has to be asked for, or it is ignored.
    ...(scopes.includes('offline_access') && { prompt: 'consent' }),
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return { url: url.href, state, verifier };
}

/**
 * The code in what the browser brought back. Throws `auth.bad_redirect` or `auth.other_issuer` when it belongs to another visit or server
 * (RFC 9207 §2.4: compared as it stands, demanded where the server announced it), `auth.refused` with what the server says.
 */
export function codeOf(plan: Pick<LoginPlan, 'found'>, { state }: Visit, back: URLSearchParams): string {
  const one = (name: string): string | undefined => {
    const values = back.getAll(name);
    if (values.length > 1) throw badRedirect(`has '${name}' twice`);
    return values[0];
  };
  if (one('state') !== state) throw badRedirect('belongs to another login');
  const { issuer, saysIssuer } = plan.found.server;
  const said = one('iss');
  if (said === undefined ? saysIssuer : said !== issuer) throw otherIssuer(issuer, said);
  const error = one('error');
  if (error !== undefined) throw answeredError('The authorization server', error, one('error_description'));
  const code = one('code');
  if (code === undefined || code === '') throw badRedirect('holds no code');
  return code;
}

/** Rejects with what `askForTokens` rejects with, and with `auth.refused`. `now`: milliseconds since the epoch. */
export async function exchangeCode(
  http: TokenHttp,
  plan: LoginPlan,
  visit: Visit,
  code: string,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<LoginRecord> {
  const { found, client, redirectUri } = plan;
  const reply = await askForTokens(http, {
    endpoint: found.server.tokenEndpoint,
    client,
    form: { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: visit.verifier },
    resource: found.resource,
    now,
    signal,
  });
  if (reply.kind === 'refused') throw answeredError('The token endpoint', reply.error, reply.description);
  return recordOf(plan, reply.tokens, now);
}

/** What is kept of a login that succeeded. */
export function recordOf({ target, found, client, redirectUri }: LoginPlan, tokens: Tokens, now: number): LoginRecord {
  const { server, resource, scopes } = found;
  const { id, secret, method, kind } = client;
  const registration: LoginRecord = {
    v: 1,
    upstream: target.upstream,
    ...(target.url !== undefined && { origin: new URL(target.url).origin }),
    issuer: server.issuer,
    token_endpoint: server.tokenEndpoint,
    ...(server.revocationEndpoint !== undefined && { revocation_endpoint: server.revocationEndpoint }),
    ...(resource !== undefined && { resource }),
    client: {
      id,
      method,
      kind,
      ...(secret !== undefined && { secret }),
      ...(kind === 'registered' && { redirect_uri: redirectUri }),
    },
    scopes: [...scopes],
    obtained_at: now,
  };
  return renewed(registration, tokens, now);
}
