// Making a login against a server that lies in every way a server can lie: what is found, what is asked, and where it stops.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startOAuthServer, type OAuthServer } from '../../../../test/fixtures/providers/oauth-server.ts';
import { logInAt, throughBrowser } from '../../../../test/support/oauth-login.ts';
import { createDigest, createEntropy } from '../../../platform/crypto.ts';
import { createTokenHttp } from '../../../platform/token-http.ts';
import { beginVisit, codeOf, type LoginPlan } from './authorization.ts';
import { clientFor } from './client.ts';
import { discover } from './discovery.ts';
import type { LoginTarget } from './login-target.ts';

const { signal } = new AbortController();
const redirectUri = 'http://127.0.0.1:3118/callback';
const clock = { now: () => Date.now() };

let server: OAuthServer;
beforeEach(async () => {
  server = await startOAuthServer();
});
afterEach(() => server.stop());

const target = (more: Partial<LoginTarget> = {}): LoginTarget => ({
  upstream: 'notion',
  url: server.resource,
  granted: [],
  missed: [],
  ...more,
});

async function planned(
  more: Partial<LoginTarget> = {},
  known?: { issuer: string; id: string; redirectUri: string },
): Promise<LoginPlan> {
  const wanted = target(more);
  const found = await discover(createTokenHttp(), wanted, signal);
  const client = await clientFor(createTokenHttp(), { target: wanted, found, redirectUri, secret: undefined, known }, signal);
  return { target: wanted, found, client, redirectUri };
}

const asked = (path: string): number => server.requests.filter((request) => request.path.startsWith(path)).length;
const withCode = (code: string) => expect.objectContaining({ code });

describe('what is found', () => {
  test('[OAUTH-11] from the challenge to the server, and on with what both of them say', async () => {
    const { found, client } = await planned();
    expect(found).toMatchObject({ resource: server.resource, scopes: ['read', 'offline_access'] });
    expect(found.server).toMatchObject({ issuer: server.url, tokenEndpoint: `${server.url}/token`, saysIssuer: true, pkce: true });
    expect(client).toMatchObject({ kind: 'registered', method: 'none' });
  });

  test('[OAUTH-12] metadata of another issuer is not used, and nothing is sent where it leads', async () => {
    server.claimedIssuer = `${server.url}/`;
    await expect(planned()).rejects.toThrow(withCode('auth.other_issuer'));
    expect(asked('/register') + asked('/authorize') + asked('/token')).toBe(0);
  });

  test('[OAUTH-12] metadata of another resource is not used', async () => {
    server.claimedResource = 'https://evil.test/mcp';
    await expect(planned()).rejects.toThrow(withCode('auth.other_resource'));
    expect(asked('/.well-known/oauth-authorization-server')).toBe(0);
  });

  test('[OAUTH-12] a server that the entry does not name is not used', async () => {
    await expect(planned({ issuer: 'https://auth.test' })).rejects.toThrow(withCode('auth.other_issuer'));
  });

  test.for([
    ['token_endpoint', 'http://auth.test/token', 'auth.url_refused'],
    ['registration_endpoint', 'ftp://auth.test/register', 'auth.url_refused'],
    ['token_endpoint', undefined, 'auth.not_discovered'],
  ] as const)('[OAUTH-11] a server with the %s %s is not used', async ([name, value, code]) => {
    server.metadata = { [name]: value };
    await expect(planned()).rejects.toThrow(withCode(code));
  });

  test('[OAUTH-11] a redirect in place of metadata is not followed', async () => {
    server.fault = 'redirect';
    await expect(planned()).rejects.toThrow(withCode('auth.not_discovered'));
  });

  test('[OAUTH-14] without PKCE nobody is sent to a browser', async () => {
    server.metadata = { code_challenge_methods_supported: undefined };
    const plan = await planned();
    expect(() => beginVisit(plan, { entropy: createEntropy(), digest: createDigest() })).toThrow(withCode('auth.not_supported'));
  });
});

describe('who we are', () => {
  test('[OAUTH-13] a registration is used again with the server that gave it and the same place to come back to', async () => {
    const { client } = await planned();
    const again = { issuer: server.url, id: client.id, redirectUri };
    expect((await planned({}, again)).client.id).toBe(client.id);
    expect(asked('/register')).toBe(1);
    for (const other of [
      { ...again, issuer: 'https://auth.test' },
      { ...again, redirectUri: 'http://127.0.0.1:1/callback' },
    ]) {
      expect((await planned({}, other)).client.id).not.toBe(client.id);
    }
  });

  test('[OAUTH-13] a document says who we are where the server reads such, and a registration does elsewhere', async () => {
    const clientMetadataUrl = 'https://us.test/client.json';
    expect((await planned({ clientMetadataUrl })).client.kind).toBe('registered');
    server.metadata = { client_id_metadata_document_supported: true };
    expect((await planned({ clientMetadataUrl })).client).toEqual({ id: clientMetadataUrl, method: 'none', kind: 'document' });
  });

  test('[OAUTH-13] where nobody can register it is said what to write', async () => {
    server.metadata = { registration_endpoint: undefined };
    await expect(planned()).rejects.toThrow(
      expect.objectContaining({ code: 'auth.no_client', hint: expect.stringContaining('auth.clientId') }),
    );
    expect((await planned({ clientId: 'by-hand' })).client).toMatchObject({ id: 'by-hand', kind: 'by_hand' });
  });

  test('[OAUTH-13] a client with a secret shows it as the server wants', async () => {
    for (const method of ['client_secret_basic', 'client_secret_post']) {
      server.metadata = { token_endpoint_auth_methods_supported: [method] };
      const record = await logInAt(server, clock);
      expect(record.client).toMatchObject({ method, secret: expect.stringMatching(/^tok-/) });
    }
  });
});

describe('what the browser brings back', () => {
  const visited = async () => {
    const plan = await planned();
    const visit = beginVisit(plan, { entropy: createEntropy(), digest: createDigest() });
    return { plan, visit, back: await throughBrowser(visit.url) };
  };

  test('[OAUTH-14] the code is exchanged with the verifier and for the resource', async () => {
    const record = await logInAt(server, clock);
    expect(record).toMatchObject({ resource: server.resource, issuer: server.url, scopes: ['read', 'offline_access'] });
    const url = new URL(server.requests.find(({ path }) => path.startsWith('/authorize'))?.path ?? '', server.url);
    expect(url.searchParams.get('code_challenge')).toHaveLength(43);
    expect(url.searchParams.get('resource')).toBe(server.resource);
    const form = new URLSearchParams(server.requests.findLast(({ path }) => path === '/token')?.body);
    expect([form.get('resource'), form.get('code_verifier')?.length]).toEqual([server.resource, 43]);
  });

  test('[OAUTH-12] an answer of another server is not exchanged: not of one that says so, and not of one that says nothing', async () => {
    for (const issuer of ['https://evil.test', `${server.url}/`, '']) {
      server.redirectIssuer = issuer;
      const { plan, visit, back } = await visited();
      expect(() => codeOf(plan, visit, back)).toThrow(withCode('auth.other_issuer'));
    }
    expect(asked('/token')).toBe(0);
  });

  test('[OAUTH-12] an issuer that was not announced is held against the server as well', async () => {
    server.metadata = { authorization_response_iss_parameter_supported: undefined };
    const { plan, visit, back } = await visited();
    expect(codeOf(plan, visit, back)).toMatch(/^tok-/);
    back.set('iss', 'https://evil.test');
    expect(() => codeOf(plan, visit, back)).toThrow(withCode('auth.other_issuer'));
    back.delete('iss');
    expect(codeOf(plan, visit, back)).toMatch(/^tok-/);
  });

  test('[OAUTH-12] the answer of another visit, two answers in one, or none stop it', async () => {
    const { plan, visit, back } = await visited();
    expect(() => codeOf(plan, { ...visit, state: 'other' }, back)).toThrow(withCode('auth.bad_redirect'));
    for (const name of ['code', 'state', 'iss']) {
      const twice = new URLSearchParams(back);
      twice.append(name, 'x');
      expect(() => codeOf(plan, visit, twice)).toThrow(withCode('auth.bad_redirect'));
    }
    back.delete('code');
    expect(() => codeOf(plan, visit, back)).toThrow(withCode('auth.bad_redirect'));
    back.set('error', 'access_denied');
    expect(() => codeOf(plan, visit, back)).toThrow(withCode('auth.refused'));
  });

  test('[OAUTH-12] a code of one server is of no use with the endpoint of another', async () => {
    const other = await startOAuthServer();
    try {
      const { plan, visit, back } = await visited();
      const mixed: LoginPlan = { ...plan, found: { ...plan.found, server: { ...plan.found.server, issuer: other.url } } };
      expect(() => codeOf(mixed, visit, back)).toThrow(withCode('auth.other_issuer'));
      expect(other.grants).toEqual([]);
    } finally {
      await other.stop();
    }
  });
});

describe('which scopes are asked for', () => {
  test('[OAUTH-16] what the operator wrote comes before what the upstream asks for', async () => {
    expect((await planned({ scopes: ['write'] })).found.scopes).toEqual(['write', 'offline_access']);
  });

  test('[OAUTH-16] a step up keeps what was granted and adds what was missed', async () => {
    const { found } = await planned({ granted: ['read', 'offline_access'], missed: ['write'] });
    expect(found.scopes).toEqual(['read', 'write', 'offline_access']);
  });

  test('[OAUTH-16] where the server does not know offline_access it is not asked for', async () => {
    server.metadata = { scopes_supported: ['read'] };
    expect((await planned()).found.scopes).toEqual(['read']);
  });
});
