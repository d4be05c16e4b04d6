import { expect, it, onTestFinished } from 'vitest';
import { startGithubApp, type GithubApp, type GithubAppOptions } from '../../../test/fixtures/providers/github-app.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { failureOf, mintDeps, secrets, wish } from '../../../test/support/minting.ts';
import type { MintDeps } from './mint-exchange.ts';
import { createGithubApp } from './github-app.ts';
import type { AuthOf } from './model.ts';

const minute = 60_000;

async function github(options: GithubAppOptions = {}, deps: Partial<MintDeps> = {}) {
  const server: GithubApp = await startGithubApp(options);
  onTestFinished(() => server.stop());
  const provider = createGithubApp(mintDeps(deps));
  const entry: AuthOf<'github_app'> = {
    type: 'github_app',
    secretRef: 'key',
    appId: '4711',
    installationId: '815',
    apiUrl: server.url,
  };
  const obtain = (more: Partial<typeof entry> = {}, more2: Parameters<typeof wish>[0] = {}, key = server.privateKey) =>
    provider.obtain({ ...entry, ...more }, secrets(key), wish(more2));
  return { server, obtain };
}

it('[MINT-7] a token is narrowed to the permissions and repositories of the entry', async () => {
  const { server, obtain } = await github();
  const narrow = await obtain({ permissions: { contents: 'read' }, repositories: ['acme/api'] });
  expect(server.issued[0]).toMatchObject({ permissions: { contents: 'read' }, repositories: ['api'] });
  expect(narrow.headers).toEqual({ authorization: `Bearer ${server.issued[0]?.token}` });
  expect(narrow.env).toEqual({ MY_UP_ACCESS_TOKEN: server.issued[0]?.token });
  expect(narrow.secrets).toContain(server.issued[0]?.token);
  // The assertion opens the app for ten minutes, so it is masked like the token.
  const assertion = server.requests[0]?.headers.authorization?.slice('Bearer '.length);
  expect(narrow.secrets).toEqual(expect.arrayContaining([assertion, server.privateKey]));
});

it('[MINT-7] an enterprise server is asked at its own API', async () => {
  const { server, obtain } = await github({ prefix: '/api/v3' });
  await obtain({ apiUrl: `${server.url}/api/v3/` });
  expect(server.requests.map(({ path }) => path)).toEqual(['/api/v3/app/installations/815/access_tokens']);
});

it('[MINT-7] a clock that is minutes off is corrected by the answer, once', async () => {
  for (const skewMs of [-20 * minute, 20 * minute]) {
    const { server, obtain } = await github();
    server.skewMs = skewMs;
    await obtain();
    expect(server.requests).toHaveLength(2);
  }
  const { server, obtain } = await github();
  for (const skewMs of [-50_000, 50_000]) {
    server.skewMs = skewMs;
    await obtain();
  }
  expect(server.requests).toHaveLength(2);
});

it('[MINT-4] the hour of GitHub is cut to the grant, and the token is taken back at its end', async () => {
  const clock = createFakeClock();
  const { server, obtain } = await github({ now: () => clock.now() }, { clock });
  expect((await obtain()).expiresAt).toBe(clock.now() + 60 * minute);
  const short = await obtain({}, { ttlMs: 5 * minute });
  expect(short.expiresAt).toBe(clock.now() + 5 * minute);
  await short.revoke?.();
  expect(server.issued.map(({ revoked }) => revoked)).toEqual([false, true]);
  // A second time, or when nobody is there any more, nothing happens to whoever asks.
  await short.revoke?.();
  await server.stop();
  await short.revoke?.();
});

it('[MINT-7] a token that can do more than was asked for is taken back and handed to nobody', async () => {
  const { server, obtain } = await github();
  server.generous = true;
  for (const more of [{ permissions: { contents: 'read' as const } }, { repositories: ['api'] }]) {
    expect((await failureOf(obtain(more))).code).toBe('auth.refused');
  }
  expect(server.issued.map(({ revoked }) => revoked)).toEqual([true, true]);
});

it('[MINT-7] a repository of another owner is not taken for one of the same name', async () => {
  const { server, obtain } = await github();
  const { code, said } = await failureOf(obtain({ repositories: ['evil/api'] }));
  expect([code, said.includes('other repositories')]).toEqual(['auth.refused', true]);
  expect(server.issued.map(({ revoked }) => revoked)).toEqual([true]);
  await obtain({ repositories: ['ACME/api'] });
});

it('[MINT-5] each refusal of GitHub is told in words that say what to do', async () => {
  const { server, obtain } = await github();
  const other = await github();
  const said = async (attempt: Promise<unknown>): Promise<string> => {
    const failure = await failureOf(attempt);
    expect(failure.code).toBe('auth.refused');
    expect(failure.said).not.toMatch(/BEGIN|eyJ|ghs_/);
    return failure.said;
  };
  expect(await said(obtain({}, {}, other.server.privateKey))).toMatch(/does not take the app '4711'.*secret rotate key/);
  expect(await said(obtain({ installationId: '9' }))).toContain('no installation 9');
  const secretName = 'repo-nobody-may-know';
  const unknown = await said(obtain({ repositories: [secretName] }));
  expect(unknown).toContain('(422)');
  expect(unknown).not.toContain(secretName);
  expect(await said(obtain({ permissions: { contents: 'admin' } }))).toContain('Grant them to the app');
  server.suspended = true;
  expect(await said(obtain())).toContain('suspended');
  expect(await said(obtain({}, {}, 'no key at all'))).toContain("The secret 'key' is no private key");
});

it('[MINT-5] what may pass by itself is told as that, and how long to wait', async () => {
  const { server, obtain } = await github();
  for (const fault of ['unavailable', 'limited', 'reset'] as const) {
    server.fault = fault;
    expect((await failureOf(obtain())).code).toBe('auth.unreachable');
  }
  server.fault = 'limited';
  await expect(obtain()).rejects.toMatchObject({ retryAfterMs: 7_000 });
  server.fault = 'malformed';
  expect((await failureOf(obtain())).code).toBe('auth.refused');
  server.fault = 'redirect';
  const { code, said } = await failureOf(obtain());
  expect([code, said.includes('redirect')]).toEqual(['auth.refused', true]);
  expect(server.issued).toEqual([]);
});
