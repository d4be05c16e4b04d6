import { expect, it, onTestFinished } from 'vitest';
import { startHuly } from '../../../test/fixtures/providers/huly.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { failureOf, mintDeps, secrets, wish } from '../../../test/support/minting.ts';
import { createHuly } from './huly.ts';
import type { AuthOf } from './model.ts';

async function huly(now: () => number = Date.now, deps: Parameters<typeof mintDeps>[0] = {}) {
  const server = await startHuly({ now });
  onTestFinished(() => server.stop());
  const provider = createHuly(mintDeps(deps));
  const entry: AuthOf<'huly'> = { type: 'huly', secretRef: 'key', accountsUrl: server.url, workspace: server.workspace };
  const obtain = (more: Partial<typeof entry> = {}, key = JSON.stringify(server.login), more2: Parameters<typeof wish>[0] = {}) =>
    provider.obtain({ ...entry, ...more }, secrets(key), wish(more2));
  return { server, obtain };
}

const hour = 3_600_000;

it('[MINT-10] a login opens the workspace of the entry, and both tokens are masked', async () => {
  const { server, obtain } = await huly();
  const { headers, secrets: texts } = await obtain();
  expect(server.requests.map(({ body }) => (JSON.parse(body) as { method: string }).method)).toEqual(['login', 'selectWorkspace']);
  const account = server.requests[1]?.headers.authorization?.slice('Bearer '.length);
  const given = headers['authorization']?.slice('Bearer '.length);
  expect(given).not.toBe(account);
  expect(texts).toEqual(expect.arrayContaining([account, given, server.login.password]));
  const { email, password } = server.login;
  await obtain({}, `${email}:${password}`);
});

it('[MINT-4] a token of Huly is used until it ends, twelve hours where it says no end, never longer than the grant', async () => {
  const clock = createFakeClock();
  const { server, obtain } = await huly(() => clock.now(), { clock });
  expect((await obtain()).expiresAt).toBe(clock.now() + 12 * hour);
  server.lifeS = 3_600;
  expect((await obtain()).expiresAt).toBe(clock.now() + hour);
  expect((await obtain({}, undefined, { ttlMs: 60_000 })).expiresAt).toBe(clock.now() + 60_000);
  server.lifeS = 48 * 3_600;
  expect((await obtain()).expiresAt).toBe(clock.now() + 12 * hour);
  server.lifeS = -5;
  expect((await failureOf(obtain())).code).toBe('auth.unreachable');
});

it('[MINT-5] each refusal of Huly is told in words that say what to do', async () => {
  const { server, obtain } = await huly();
  const said = async (attempt: Promise<unknown>, code = 'auth.refused'): Promise<string> => {
    const failure = await failureOf(attempt);
    expect(failure.code).toBe(code);
    expect(failure.said).not.toContain('with:colons');
    return failure.said;
  };
  expect(await said(obtain({}, `${server.login.email}:with:colons`))).toMatch(/AccountNotFound.*secret rotate key/);
  expect(await said(obtain({ workspace: 'other' }))).toContain("no workspace 'other'");
  expect(await said(obtain({}, 'with:'))).toContain("The secret 'key' is no login");
  server.confirmed = false;
  expect(await said(obtain())).toContain('Confirm');
  server.fault = 'malformed';
  expect(await said(obtain(), 'auth.unreachable')).toContain('gave no token');
  server.fault = 'limited';
  await said(obtain(), 'auth.unreachable');
});
