// What an authorization server is and where its endpoints are (RFC 8414, OpenID Connect Discovery). Takes no word of a server that names
// itself differently from how it was called.
import type { JsonObject } from '../../../kernel/json.ts';
import type { TokenHttp } from '../../../kernel/ports.ts';
import { scopesIn } from './challenge.ts';
import { metadataAt, textOf, textsOf } from './metadata-answer.ts';
import { ledTo, serverMetadataUrls } from './places.ts';
import { otherIssuer, undiscovered } from './refusals.ts';

export interface AuthorizationServer {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly authorizationEndpoint?: string;
  readonly registrationEndpoint?: string;
  readonly deviceEndpoint?: string;
  readonly revocationEndpoint?: string;
  /** `client_secret_basic` where it says nothing (RFC 8414 §2). */
  readonly authMethods: readonly string[];
  readonly scopes: readonly string[];
  /** PKCE with S256. */
  readonly pkce: boolean;
  /** Each answer of its authorization endpoint says who it is (RFC 9207). */
  readonly saysIssuer: boolean;
  readonly takesClientDocuments: boolean;
}

/**
 * `undefined` when no metadata is found. Rejects with `auth.other_issuer` when it is that of another server (RFC 8414 §3.3: identical, no
 * spelling is forgiven), with `auth.url_refused` for an endpoint that may not be asked.
 */
export async function findServer(http: TokenHttp, issuer: string, signal: AbortSignal): Promise<AuthorizationServer | undefined> {
  for (const place of serverMetadataUrls(issuer)) {
    const found = await metadataAt(http, place, signal);
    if (found === undefined) continue;
    const named = textOf(found['issuer']);
    if (named !== issuer) throw otherIssuer(issuer, named);
    return serverOf(issuer, found);
  }
  return undefined;
}

function serverOf(issuer: string, found: JsonObject): AuthorizationServer {
  const endpoint = (name: string): string | undefined => {
    const url = textOf(found[name]);
    return url === undefined ? undefined : ledTo(issuer, url);
  };
  const tokenEndpoint = endpoint('token_endpoint');
  if (tokenEndpoint === undefined) throw undiscovered(issuer, 'has no token endpoint');
  const [authorizationEndpoint, registrationEndpoint, deviceEndpoint, revocationEndpoint] = [
    'authorization_endpoint',
    'registration_endpoint',
    'device_authorization_endpoint',
    'revocation_endpoint',
  ].map(endpoint);
  return {
    issuer,
    tokenEndpoint,
    ...(authorizationEndpoint !== undefined && { authorizationEndpoint }),
    ...(registrationEndpoint !== undefined && { registrationEndpoint }),
    ...(deviceEndpoint !== undefined && { deviceEndpoint }),
    ...(revocationEndpoint !== undefined && { revocationEndpoint }),
    authMethods: textsOf(found['token_endpoint_auth_methods_supported']) ?? ['client_secret_basic'],
    scopes: scopesIn((textsOf(found['scopes_supported']) ?? []).join(' ')),
    pkce: textsOf(found['code_challenge_methods_supported'])?.includes('S256') === true,
    saysIssuer: found['authorization_response_iss_parameter_supported'] === true,
    takesClientDocuments: found['client_id_metadata_document_supported'] === true,
  };
}

/** A server of MCP 2025-03-26 without metadata: the usual endpoints at the root of the upstream, PKCE as that revision demands it. */
export function serverWithoutMetadata(origin: string): AuthorizationServer {
  return {
    issuer: origin,
    tokenEndpoint: `${origin}/token`,
    authorizationEndpoint: `${origin}/authorize`,
    registrationEndpoint: `${origin}/register`,
    authMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    scopes: [],
    pkce: true,
    saysIssuer: false,
    takesClientDocuments: false,
  };
}
