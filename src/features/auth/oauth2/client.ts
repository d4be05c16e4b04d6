// Who we are to an authorization server: a client that was registered by hand, a document that describes us (client ID metadata document),
// or a client registered now (RFC 7591). An identity of one server is shown to no other.
import type { JsonObject } from '../../../kernel/json.ts';
import type { TokenHttp } from '../../../kernel/ports.ts';
import type { Discovered } from './discovery.ts';
import type { LoginTarget } from './login-target.ts';
import { jsonObject, textOf } from './metadata-answer.ts';
import { answeredError, malformed, noClient, notSupported } from './refusals.ts';
import type { AuthorizationServer } from './server-metadata.ts';

export const authMethods = ['none', 'client_secret_basic', 'client_secret_post'] as const;
/** How a client shows the token endpoint who it is (RFC 6749 §2.3). */
export type AuthMethod = (typeof authMethods)[number];

export interface Client {
  readonly id: string;
  readonly secret?: string;
  readonly method: AuthMethod;
  readonly kind: 'by_hand' | 'document' | 'registered';
}

/** A registration of an earlier login that can be used again. */
export interface KnownClient {
  readonly issuer: string;
  readonly id: string;
  readonly redirectUri: string;
}

export interface ClientWish {
  readonly target: Pick<LoginTarget, 'clientId' | 'clientMetadataUrl'>;
  readonly found: Discovered;
  /** Where a browser is sent back to; the registration names it. */
  readonly redirectUri: string;
  /** Of the client registered by hand, where it has one. */
  readonly secret: string | undefined;
  readonly known: KnownClient | undefined;
}

const maxBytes = 64 * 1024;

/** Rejects with `auth.no_client` where none can be had, with `auth.refused` when the server does not take us. */
export async function clientFor(http: TokenHttp, wish: ClientWish, signal: AbortSignal): Promise<Client> {
  const { target, found, secret, known, redirectUri } = wish;
  const { server } = found;
  if (target.clientId !== undefined) {
    return {
      id: target.clientId,
      kind: 'by_hand',
      ...(secret === undefined ? { method: 'none' } : { secret, method: secretMethod(server) }),
    };
  }
  if (target.clientMetadataUrl !== undefined && server.takesClientDocuments) {
    return { id: target.clientMetadataUrl, method: 'none', kind: 'document' };
  }
  if (known !== undefined && known.issuer === server.issuer && known.redirectUri === redirectUri) {
    return { id: known.id, method: 'none', kind: 'registered' };
  }
  if (server.registrationEndpoint === undefined) throw noClient(server.issuer);
  return register(http, server.registrationEndpoint, wish, signal);
}

/** Does the server want a secret of a client that was registered by hand? Then the person who registered it has it. */
export function wantsSecret({ clientId }: Pick<LoginTarget, 'clientId'>, { authMethods: taken }: AuthorizationServer): boolean {
  return clientId !== undefined && !taken.includes('none');
}

function secretMethod({ authMethods: taken, issuer }: AuthorizationServer): AuthMethod {
  const method = (['client_secret_basic', 'client_secret_post'] as const).find((one) => taken.includes(one));
  if (method !== undefined) return method;
  const hint = 'Of the ways to log in a client this version has: none, client_secret_basic and client_secret_post.';
  throw notSupported(issuer, `wants clients to log in by ${taken.join(', ') || 'no way it names'}`, hint);
}

async function register(http: TokenHttp, url: string, wish: ClientWish, signal: AbortSignal): Promise<Client> {
  const { server, scopes } = wish.found;
  const asked = server.authMethods.includes('none') ? 'none' : secretMethod(server);
  const body = JSON.stringify({
    client_name: 'Sallyport',
    application_type: 'native',
    redirect_uris: [wish.redirectUri],
    grant_types: [
      'authorization_code',
      'refresh_token',
      ...(server.deviceEndpoint === undefined ? [] : ['urn:ietf:params:oauth:grant-type:device_code']),
    ],
    response_types: ['code'],
    token_endpoint_auth_method: asked,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  });
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const answer = await http.request({ url, method: 'POST', headers, body, signal, timeoutMs: 10_000, maxBytes });
  const found = jsonObject(answer.body);
  if (answer.status >= 400 && answer.status < 500) {
    throw answeredError(
      'The registration of a client',
      textOf(found?.['error']) ?? `HTTP ${answer.status}`,
      textOf(found?.['error_description']),
    );
  }
  if (found === undefined || answer.status < 200 || answer.status >= 300) {
    throw malformed('The registration of a client', `answered with HTTP ${answer.status} and no client.`);
  }
  return registered(found, asked);
}

function registered(found: JsonObject, asked: AuthMethod): Client {
  const id = textOf(found['client_id']);
  if (id === undefined) throw malformed('The registration of a client', 'gave no client id.');
  const secret = textOf(found['client_secret']);
  const said = found['token_endpoint_auth_method'];
  const method = authMethods.find((one) => one === said) ?? asked;
  if (method === 'none') return { id, method, kind: 'registered' };
  if (secret === undefined) throw malformed('The registration of a client', `gave no secret for ${method}.`);
  return { id, secret, method, kind: 'registered' };
}
