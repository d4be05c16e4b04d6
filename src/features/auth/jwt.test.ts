import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { startJwksApi, type JwksApiOptions } from '../../../test/fixtures/providers/jwks-api.ts';
import { failureOf, mintDeps, secrets, wish } from '../../../test/support/minting.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { compactJws, expiryOf, hmacKey } from './compact-jws.ts';
import { createJwt } from './jwt.ts';
import { authSchema, jwtTtlMs, type AuthOf } from './model.ts';

const auth = (more: Partial<AuthOf<'jwt'>> = {}): AuthOf<'jwt'> => ({ type: 'jwt', secretRef: 'key', ...more });

async function api(
  options: JwksApiOptions,
): Promise<(headers: Readonly<Record<string, string>>) => Promise<Record<string, unknown>>> {
  const server = await startJwksApi(options);
  onTestFinished(() => server.stop());
  return async (headers) => (await (await fetch(server.url, { headers })).json()) as Record<string, unknown>;
}

it('[MINT-3] signs the token of RFC 7515 A.1 as that shows it', async () => {
  const k = 'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow';
  // The lines of the RFC's example are broken and its header is in another order; the signature is over the text as it stands there.
  const input =
    'eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ';
  const signature = await hmacKey(mintDeps().digest, Buffer.from(k, 'base64url')).sign(input);
  expect(Buffer.from(signature).toString('base64url')).toBe('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk');
  expect(expiryOf(`${input}.x`)).toBe(1_300_819_380_000);
  const own = await compactJws(hmacKey(mintDeps().digest, Buffer.from(k, 'base64url')), { iss: 'joe' });
  expect(own.split('.').slice(0, 2)).toEqual(['eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9', 'eyJpc3MiOiJqb2UifQ']);
});

const pairs = [
  ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ['P-256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
  ['Ed25519', generateKeyPairSync('ed25519')],
] as const;

it.each(pairs)(
  '[MINT-3] an API that has the other half takes tokens of a key of %s, each of them once',
  async (_name, { privateKey }) => {
    const ask = await api({ key: createPublicKey(privateKey), audience: 'orders' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const provider = createJwt(mintDeps());
    const first = await provider.obtain(auth({ claims: { aud: 'orders', role: ['r'] } }), secrets(pem), wish({ agent: 'mira' }));
    expect(await ask(first.headers)).toMatchObject({ iss: 'sallyport', sub: 'mira', aud: 'orders', role: ['r'] });
    expect(await ask(first.headers)).toMatchObject({ reason: 'replay' });
    const second = await provider.obtain(auth({ claims: { aud: 'orders' } }), secrets(pem), wish());
    expect(await ask(second.headers)).toMatchObject({ sub: 'my-up' });
    const elsewhere = await provider.obtain(auth({ claims: { aud: 'billing' } }), secrets(pem), wish());
    expect(await ask(elsewhere.headers)).toMatchObject({ reason: 'audience' });
    expect(Object.keys(first.env)).toEqual(['MY_UP_ACCESS_TOKEN']);
    expect(first.headers['authorization']).toBe(`Bearer ${first.env['MY_UP_ACCESS_TOKEN']}`);
    expect(first.secrets).toEqual(expect.arrayContaining([first.env['MY_UP_ACCESS_TOKEN'], pem]));
  },
);

it('[MINT-3] a secret both sides hold signs as text, and as the JWK of its bytes', async () => {
  const secret = 'x9'.repeat(20);
  const ask = await api({ key: Buffer.from(secret) });
  const provider = createJwt(mintDeps());
  const jwk = JSON.stringify({ kty: 'oct', k: Buffer.from(secret).toString('base64url') });
  for (const text of [secret, jwk]) {
    expect(await ask((await provider.obtain(auth(), secrets(text), wish())).headers)).toMatchObject({ iss: 'sallyport' });
  }
});

it('[MINT-4] a token lives 15 minutes, as long as the entry says, or as long as the grant, whichever is least', async () => {
  const clock = createFakeClock();
  const provider = createJwt(mintDeps({ clock }));
  const lifeOf = async (more: Partial<AuthOf<'jwt'>>, ttlMs?: number): Promise<[number, number]> => {
    const { expiresAt = 0, env } = await provider.obtain(
      auth(more),
      secrets('s'.repeat(32)),
      wish(ttlMs === undefined ? {} : { ttlMs }),
    );
    return [expiresAt - clock.now(), (expiryOf(env['MY_UP_ACCESS_TOKEN'] ?? '') ?? 0) - clock.now()];
  };
  expect(await lifeOf({})).toEqual([900_000, 900_000]);
  expect(await lifeOf({ ttl: '2h' })).toEqual([7_200_000, 7_200_000]);
  expect(await lifeOf({ ttl: '2h' }, 60_000)).toEqual([60_000, 60_000]);
  expect(await lifeOf({ ttl: '30s' }, 60_000)).toEqual([30_000, 30_000]);
  // Less than the second that tokens count in: given up in time, whatever the token says.
  expect(await lifeOf({}, 200)).toEqual([200, 1_000]);
});

it('[MINT-5] a secret that cannot sign is told as what it is, and not shown', async () => {
  const provider = createJwt(mintDeps());
  for (const text of [
    'short-secret-1234',
    '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----',
    '{"kty":"oct","k":"AAAA"}',
    '{"kty":"RSA"}',
  ]) {
    const { code, said } = await failureOf(provider.obtain(auth(), secrets(text), wish()));
    expect(code).toBe('auth.refused');
    expect(said).toContain('sallyport secret rotate key');
    expect(said).not.toMatch(/short-secret|AAAA/);
  }
});

it('[MINT-6] an entry with a time, claim, role, region, repository or address that cannot be is refused', () => {
  const ok = (value: object): boolean => authSchema.safeParse(value).success;
  expect(['90s', '15m', '12h'].map(jwtTtlMs)).toEqual([90_000, 900_000, 43_200_000]);
  for (const ttl of ['0s', '13h', '1d', '15', '15m ', '1h30m', '-1s', '١m'])
    expect(ok({ type: 'jwt', secretRef: 'key', ttl })).toBe(false);
  for (const name of ['iat', 'exp', 'nbf', 'jti']) expect(ok({ type: 'jwt', secretRef: 'key', claims: { [name]: 1 } })).toBe(false);
  expect(ok({ type: 'jwt', secretRef: 'key', claims: { iss: 'me', sub: 'x', aud: ['a'] } })).toBe(true);
  const app = { type: 'github_app', secretRef: 'key', appId: '1', installationId: '2' };
  expect(ok({ ...app, apiUrl: 'https://ghe.acme.example/api/v3', repositories: ['acme/api', 'web'] })).toBe(true);
  for (const more of [
    { installationId: '2/../../user' },
    { apiUrl: 'http://ghe.acme.example' },
    { apiUrl: 'http://127.0.0.1.acme.example' },
    { apiUrl: 'https://me:word@ghe.acme.example' },
    { apiUrl: 'https://ghe.acme.example/?x=' },
    { repositories: [] },
    { repositories: ['a/b/c'] },
  ]) {
    expect(ok({ ...app, ...more })).toBe(false);
  }
  const sts = { type: 'aws_sts', secretRef: 'key', roleArn: 'arn:aws:iam::123456789012:role/path/reader', region: 'eu-central-1' };
  expect(ok(sts)).toBe(true);
  for (const more of [{ region: 'eu-central-1.evil.example/' }, { roleArn: 'arn:aws:iam::1:user/me' }])
    expect(ok({ ...sts, ...more })).toBe(false);
});
