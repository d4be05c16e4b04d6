// From the URL of an upstream to the server that gives tokens for it, and what to ask of it. Asks for no token.
import type { TokenHttp } from '../../../kernel/ports.ts';
import type { LoginTarget } from './login-target.ts';
import { ledTo } from './places.ts';
import { challengeOf, resourceFacts } from './resource-metadata.ts';
import { issuerNotOffered, undiscovered } from './refusals.ts';
import { scopesFor } from './scopes.ts';
import { findServer, serverWithoutMetadata, type AuthorizationServer } from './server-metadata.ts';

export interface Discovered {
  readonly server: AuthorizationServer;
  /** For every request (RFC 8707); absent where there is no URL. */
  readonly resource?: string;
  /** Empty: the server decides. */
  readonly scopes: readonly string[];
}

export async function discover(http: TokenHttp, target: LoginTarget, signal: AbortSignal): Promise<Discovered> {
  const { url, issuer } = target;
  if (url === undefined) {
    if (issuer === undefined) throw undiscovered(target.upstream, 'has no URL to find its authorization server by');
    const server = await serverOf(http, issuer, signal);
    return { server, scopes: scopesFor({ target, server, challenged: undefined, supported: undefined }) };
  }
  const challenge = await challengeOf(http, url, signal);
  const facts = await resourceFacts(http, url, challenge, signal);
  const server =
    facts === undefined && issuer === undefined
      ? await serverOfOldUpstream(http, url, signal)
      : await serverOf(http, chosenIssuer(url, facts?.issuers, issuer), signal);
  return {
    server,
    resource: facts?.resource ?? url,
    scopes: scopesFor({ target, server, challenged: challenge?.scopes, supported: facts?.scopes }),
  };
}

/** The one that was written, if the upstream names any it has to be among them; else the first. */
function chosenIssuer(url: string, offered: readonly string[] | undefined, pinned: string | undefined): string {
  if (pinned !== undefined) {
    if (offered !== undefined && offered.length > 0 && !offered.includes(pinned)) throw issuerNotOffered(pinned);
    return pinned;
  }
  const [first] = offered ?? [];
  if (first === undefined) throw undiscovered(url, 'names no authorization server');
  return ledTo(url, first);
}

async function serverOf(http: TokenHttp, issuer: string, signal: AbortSignal): Promise<AuthorizationServer> {
  const server = await findServer(http, issuer, signal);
  if (server === undefined) throw undiscovered(issuer, 'has no metadata of an authorization server');
  return server;
}

/** MCP 2025-03-26: the upstream is its own authorization server, perhaps without metadata. */
async function serverOfOldUpstream(http: TokenHttp, url: string, signal: AbortSignal): Promise<AuthorizationServer> {
  const { origin } = new URL(url);
  return (await findServer(http, origin, signal)) ?? serverWithoutMetadata(origin);
}
