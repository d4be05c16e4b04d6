// The login of the gateway as a scenario of the suite wants to see it, with a browser that follows where it is sent and reads nothing.
import { beginVisit, codeOf, exchangeCode, type LoginPlan } from '../../src/features/auth/oauth2/authorization.ts';
import { bearerChallenge } from '../../src/features/auth/oauth2/challenge.ts';
import { clientFor } from '../../src/features/auth/oauth2/client.ts';
import { discover } from '../../src/features/auth/oauth2/discovery.ts';
import type { LiveLogin, LoginRecord } from '../../src/features/auth/oauth2/login-record.ts';
import { isLive } from '../../src/features/auth/oauth2/login-record.ts';
import { asAppError } from '../../src/kernel/errors.ts';
import { createDigest, createEntropy } from '../../src/platform/crypto.ts';
import { createTokenHttp } from '../../src/platform/token-http.ts';

const signal = new AbortController().signal;
const redirectUri = 'http://127.0.0.1:3118/callback';
/** The one that the suite knows. */
const clientMetadataUrl = 'https://conformance-test.local/client-metadata.json';
/** A person would be asked each time. */
const mostLogins = 2;

interface Registered {
  readonly client_id?: string;
  readonly client_secret?: string;
}

/** Does `work` with a token, and once more with another one when that is refused for the token. */
export async function loggedIn(url: string, work: (authorization: string) => Promise<void>): Promise<void> {
  let record: LiveLogin | undefined;
  let missed: readonly string[] = [];
  for (let logins = 1; ; logins += 1) {
    record = await logIn(url, record, missed);
    try {
      return await work(`Bearer ${record.access_token}`);
    } catch (thrown) {
      const { code, data } = asAppError(thrown);
      if (code !== 'fleet.auth_broken' || logins === mostLogins) throw thrown;
      const challenge = data?.['challenge'];
      missed = data?.['status'] === 403 && typeof challenge === 'string' ? (bearerChallenge(challenge)?.scopes ?? []) : [];
    }
  }
}

async function logIn(url: string, before: LoginRecord | undefined, missed: readonly string[]): Promise<LiveLogin> {
  const [http, entropy, digest] = [createTokenHttp(), createEntropy(), createDigest()];
  const { client_id: clientId, client_secret: secret } = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Registered;
  const by = clientId === undefined ? { clientMetadataUrl } : { clientId };
  const target = { upstream: 'conformance', url, granted: before?.scopes ?? [], missed, ...by };
  const found = await discover(http, target, signal);
  const known = before?.client.kind === 'registered' ? { issuer: before.issuer, id: before.client.id, redirectUri } : undefined;
  const client = await clientFor(http, { target, found, redirectUri, secret, known }, signal);
  const plan: LoginPlan = { target, found, client, redirectUri };
  const visit = beginVisit(plan, { entropy, digest });
  const { headers } = await http.request({
    url: visit.url,
    method: 'GET',
    headers: {},
    signal,
    timeoutMs: 5_000,
    maxBytes: 65_536,
  });
  const code = codeOf(plan, visit, new URL(headers['location'] ?? '', redirectUri).searchParams);
  const record = await exchangeCode(http, plan, visit, code, { now: Date.now(), signal });
  if (!isLive(record)) throw new Error('a login without a token');
  return record;
}
