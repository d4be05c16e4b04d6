// A login as the command line makes one, with a browser that says yes to everything.
import { beginVisit, codeOf, exchangeCode } from '../../src/features/auth/oauth2/authorization.ts';
import { clientFor } from '../../src/features/auth/oauth2/client.ts';
import { discover } from '../../src/features/auth/oauth2/discovery.ts';
import type { LiveLogin } from '../../src/features/auth/oauth2/login-record.ts';
import { isLive } from '../../src/features/auth/oauth2/login-record.ts';
import type { LoginTarget } from '../../src/features/auth/oauth2/login-target.ts';
import { createDigest, createEntropy } from '../../src/platform/crypto.ts';
import { createTokenHttp } from '../../src/platform/token-http.ts';
import type { OAuthServer } from '../fixtures/providers/oauth-server.ts';

const redirectUri = 'http://127.0.0.1:3118/callback';
const { signal } = new AbortController();

export async function logInAt(
  server: Pick<OAuthServer, 'resource'>,
  clock: { now(): number },
  more: Partial<LoginTarget> = {},
): Promise<LiveLogin> {
  const http = createTokenHttp();
  const target: LoginTarget = { upstream: 'notion', url: server.resource, granted: [], missed: [], ...more };
  const found = await discover(http, target, signal);
  const client = await clientFor(http, { target, found, redirectUri, secret: undefined, known: undefined }, signal);
  const plan = { target, found, client, redirectUri };
  const visit = beginVisit(plan, { entropy: createEntropy(), digest: createDigest() });
  const back = await throughBrowser(visit.url);
  const record = await exchangeCode(http, plan, visit, codeOf(plan, visit, back), { now: clock.now(), signal });
  if (!isLive(record)) throw new Error('a login without a token');
  return record;
}

/** What the browser would be sent back with. */
export async function throughBrowser(url: string): Promise<URLSearchParams> {
  const answer = await createTokenHttp().request({ url, method: 'GET', headers: {}, signal, timeoutMs: 5_000, maxBytes: 65_536 });
  return new URL(answer.headers['location'] ?? `${redirectUri}?status=${answer.status}`).searchParams;
}
