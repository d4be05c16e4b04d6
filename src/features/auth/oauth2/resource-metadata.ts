// Whom a protected resource trusts (RFC 9728), and what it wants said in the request for a token. Finds it; trusts it in nothing but that.
import type { TokenHttp } from '../../../kernel/ports.ts';
import { bearerChallenge, scopesIn, type BearerChallenge } from './challenge.ts';
import { metadataAt, textOf, textsOf } from './metadata-answer.ts';
import { ledTo, resourceCovers, resourceMetadataUrls } from './places.ts';
import { otherResource, undiscovered } from './refusals.ts';

export interface ResourceFacts {
  /** As the resource itself writes it: the `resource` of every request (RFC 8707). */
  readonly resource: string;
  /** In the order of the resource; empty where it names none. */
  readonly issuers: readonly string[];
  readonly scopes: readonly string[] | undefined;
}

const probe = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'sallyport', version: '1' } },
});
const later = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} });

/** What the upstream says to somebody without a token; `undefined` where it lets everybody in or speaks of nothing. */
export async function challengeOf(http: TokenHttp, url: string, signal: AbortSignal): Promise<BearerChallenge | undefined> {
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  // Some let anybody say hello, and ask who is there only then.
  for (const body of [probe, later]) {
    const answer = await http
      .request({ url, method: 'POST', headers, body, signal, timeoutMs: 10_000, maxBytes: 64 * 1024 })
      .catch((error: unknown) => {
        if (signal.aborted) throw error;
        // A stream that does not end, or an answer without one: where the metadata lies can be found without it.
        return undefined;
      });
    if (answer !== undefined && answer.status === 401) return bearerChallenge(answer.headers['www-authenticate']);
  }
  return undefined;
}

/**
 * `undefined` where the resource has no metadata, as those of 2025-03-26. Rejects with `auth.other_resource` for metadata of another one,
 * with `auth.not_discovered` when the place that the challenge names holds none.
 */
export async function resourceFacts(
  http: TokenHttp,
  url: string,
  challenge: BearerChallenge | undefined,
  signal: AbortSignal,
): Promise<ResourceFacts | undefined> {
  const named = challenge?.resourceMetadata;
  const places = named === undefined ? resourceMetadataUrls(url) : [ledTo(url, named)];
  for (const place of places) {
    const found = await metadataAt(http, place, signal);
    if (found === undefined) continue;
    const resource = textOf(found['resource']);
    if (resource === undefined || !resourceCovers(resource, url)) throw otherResource(url, resource ?? '');
    const scopes = textsOf(found['scopes_supported']);
    return {
      resource,
      issuers: textsOf(found['authorization_servers']) ?? [],
      scopes: scopes && scopesIn(scopes.join(' ')),
    };
  }
  if (named !== undefined) throw undiscovered(named, 'holds no metadata of the resource');
  return undefined;
}
