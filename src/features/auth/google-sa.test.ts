import { expect, it, onTestFinished } from 'vitest';
import { startGoogleToken } from '../../../test/fixtures/providers/google-token.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { failureOf, mintDeps, secrets, wish } from '../../../test/support/minting.ts';
import { createGoogleSa } from './google-sa.ts';
import type { AuthOf } from './model.ts';

const drive = 'https://www.googleapis.com/auth/drive.readonly';

async function google(now: () => number = Date.now, deps: Parameters<typeof mintDeps>[0] = {}) {
  const server = await startGoogleToken({ now });
  onTestFinished(() => server.stop());
  const provider = createGoogleSa(mintDeps(deps));
  const entry: AuthOf<'google_sa'> = { type: 'google_sa', secretRef: 'key', scopes: [drive], tokenUrl: server.tokenUrl };
  const obtain = (more: Partial<typeof entry> = {}, key: object = server.keyFile, more2: Parameters<typeof wish>[0] = {}) =>
    provider.obtain({ ...entry, ...more }, secrets(JSON.stringify(key)), wish(more2));
  return { server, obtain, entry, provider };
}

it('[MINT-9] an assertion of the key buys a token for the scopes of the entry', async () => {
  const { server, obtain } = await google();
  const { headers, secrets: texts } = await obtain({ scopes: [drive, 'https://www.googleapis.com/auth/calendar'] });
  expect(server.issued).toMatchObject([{ scope: `${drive} https://www.googleapis.com/auth/calendar` }]);
  expect(headers).toEqual({ authorization: `Bearer ${server.issued[0]?.token}` });
  const assertion = new URLSearchParams(server.requests[0]?.body).get('assertion');
  expect(texts).toEqual(expect.arrayContaining([server.issued[0]?.token, assertion, server.keyFile['private_key']]));
});

it('[MINT-4] the hour of Google is cut to the grant', async () => {
  const clock = createFakeClock();
  const { server, obtain } = await google(() => clock.now(), { clock });
  expect((await obtain()).expiresAt).toBe(clock.now() + 3_599_000);
  expect((await obtain({}, server.keyFile, { ttlMs: 60_000 })).expiresAt).toBe(clock.now() + 60_000);
});

it('[MINT-9] a key file sends its assertion nowhere but to Google or to the URL of the entry', async () => {
  const { server, obtain, provider, entry } = await google();
  const elsewhere = await google();
  const forged = { ...server.keyFile, token_uri: elsewhere.server.tokenUrl };
  const { code, said } = await failureOf(obtain({}, forged));
  expect([code, said.includes('token_uri')]).toEqual(['auth.refused', true]);
  const { tokenUrl: _none, ...plain } = entry;
  for (const uri of [
    'http://oauth2.googleapis.com/token',
    'https://oauth2.googleapis.com.evil.example/token',
    'https://oauth2.googleapis.com@evil.example/token',
    7,
  ]) {
    const file = JSON.stringify({ ...server.keyFile, token_uri: uri });
    expect((await failureOf(provider.obtain(plain, secrets(file), wish()))).code).toBe('auth.refused');
  }
  expect(elsewhere.server.requests).toEqual([]);
  // What the entry says, an operator accepted: a key file of Google's own is used there.
  await failureOf(obtain({}, { ...server.keyFile, token_uri: 'https://oauth2.googleapis.com/token' }));
  expect(server.issued).toHaveLength(1);
});

it('[MINT-5] each refusal of Google is told in words that say what to do', async () => {
  const { server, obtain } = await google();
  const other = await google();
  const said = async (attempt: Promise<unknown>, code = 'auth.refused'): Promise<string> => {
    const failure = await failureOf(attempt);
    expect(failure.code).toBe(code);
    expect(failure.said).not.toMatch(/BEGIN|eyJ|iam\.gserviceaccount/);
    return failure.said;
  };
  expect(await said(obtain({}, { ...server.keyFile, private_key: other.server.keyFile['private_key'] }))).toMatch(
    /invalid_grant.*secret rotate key/,
  );
  expect(await said(obtain({ scopes: ['https://www.googleapis.com/auth/cloud-platform'] }))).toContain('invalid_scope');
  expect(await said(obtain({}, { type: 'authorized_user' }))).toContain('no key file of a service account');
  expect(await said(obtain({}, []))).toContain('is no JSON');
  expect(await said(obtain({}, { ...server.keyFile, private_key: 'x' }))).toContain('private_key');
  server.skewMs = 3_600_000;
  expect(await said(obtain())).toContain('clock');
  server.fault = 'malformed';
  expect(await said(obtain(), 'auth.unreachable')).toContain('without an access token');
  server.fault = 'reset';
  await said(obtain(), 'auth.unreachable');
});
