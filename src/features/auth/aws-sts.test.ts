import { expect, it, onTestFinished } from 'vitest';
import { startAwsSts } from '../../../test/fixtures/providers/aws-sts.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { failureOf, mintDeps, secrets, wish } from '../../../test/support/minting.ts';
import { hex } from '../../lib/hex.ts';
import { awsKeysIn } from './aws-keys.ts';
import { createAwsSts } from './aws-sts.ts';
import type { AuthOf } from './model.ts';
import { signForm, signingKey } from './sigv4.ts';

const { digest } = mintDeps();
// From AWS's published test suite and its examples of derived keys.
const published = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

it('[MINT-8] signs as the published examples of Signature Version 4', () => {
  expect(hex(signingKey(digest, published.secretAccessKey, '20150830', 'us-east-1', 'iam'))).toBe(
    'c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9',
  );
  const signature = (body: string, headers: Record<string, string>): string | undefined =>
    signForm(digest, published, {
      host: 'example.amazonaws.com',
      region: 'us-east-1',
      service: 'service',
      body,
      headers,
      at: Date.UTC(2015, 7, 30, 12, 36),
    })['authorization'];
  expect(signature('Param1=value1', { 'content-type': 'application/x-www-form-urlencoded' })).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  );
  expect(signature('', {})).toContain('Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b');
});

async function sts(now: () => number = Date.now, deps: Parameters<typeof mintDeps>[0] = {}) {
  const server = await startAwsSts({ now });
  onTestFinished(() => server.stop());
  const provider = createAwsSts(mintDeps(deps));
  const entry: AuthOf<'aws_sts'> = {
    type: 'aws_sts',
    secretRef: 'key',
    roleArn: server.roleArn,
    region: 'eu-central-1',
    endpoint: server.url,
  };
  const obtain = (more: Partial<typeof entry> = {}, more2: Parameters<typeof wish>[0] = {}, key = JSON.stringify(server.keys)) =>
    provider.obtain({ ...entry, ...more }, secrets(key), wish(more2));
  return { server, obtain };
}

it('[MINT-8] a program gets the keys of the role in the variables of AWS, under the name of the agent', async () => {
  const { server, obtain } = await sts();
  const { env, headers, secrets: texts } = await obtain({}, { agent: 'mira/laptop 2' });
  expect(server.assumed).toMatchObject([{ session: 'sallyport-mira-laptop-2', seconds: 900 }]);
  expect(env['AWS_ACCESS_KEY_ID']).toBe(server.assumed[0]?.accessKeyId);
  expect(headers).toEqual({});
  expect(texts).toEqual(
    expect.arrayContaining([env['AWS_SECRET_ACCESS_KEY'], env['AWS_SESSION_TOKEN'], server.keys.secretAccessKey]),
  );
});

it('[MINT-8] keys are read as JSON of any spelling and as lines, with the token of a session', async () => {
  const { accessKeyId: id, secretAccessKey: secret } = (await sts()).server.keys;
  const read = { accessKeyId: id, secretAccessKey: secret };
  expect(awsKeysIn(JSON.stringify({ AccessKeyId: id, SecretAccessKey: secret }))).toEqual(read);
  expect(awsKeysIn(JSON.stringify({ Credentials: { AccessKeyId: id, SecretAccessKey: secret, SessionToken: 'st' } }))).toEqual({
    ...read,
    sessionToken: 'st',
  });
  expect(
    awsKeysIn(
      `[default]\r\naws_access_key_id = ${id}\r\naws_secret_access_key=${secret}\r\n[other]\naws_access_key_id = AKIAOTHEROTHEROTHER\n`,
    ),
  ).toEqual(read);
  expect(
    awsKeysIn(`export AWS_ACCESS_KEY_ID="${id}"\nexport AWS_SECRET_ACCESS_KEY="${secret}"\nexport AWS_SESSION_TOKEN=st\n`),
  ).toEqual({ ...read, sessionToken: 'st' });
  for (const text of ['', secret, '{', '{}', `aws_access_key_id = ${id}`]) expect(awsKeysIn(text)).toHaveProperty('problem');
  const { server, obtain } = await sts();
  server.sessionToken = 'FwoGZXIvYXdzEXAMPLE==';
  await obtain({}, {}, JSON.stringify({ ...server.keys, sessionToken: server.sessionToken }));
  expect((await failureOf(obtain())).code).toBe('auth.refused');
});

it('[MINT-4] no role is taken for less than AWS gives, none for longer than the grant is used', async () => {
  const clock = createFakeClock();
  const { server, obtain } = await sts(() => clock.now(), { clock });
  const lifeOf = async (durationSeconds: number | undefined, ttlMs?: number): Promise<unknown[]> => {
    const entry = durationSeconds === undefined ? {} : { durationSeconds };
    const { expiresAt = 0 } = await obtain(entry, ttlMs === undefined ? {} : { ttlMs });
    return [server.assumed.at(-1)?.seconds, (expiresAt - clock.now()) / 1_000];
  };
  expect(await lifeOf(undefined)).toEqual([900, 900]);
  expect(await lifeOf(3_600)).toEqual([3_600, 3_600]);
  expect(await lifeOf(3_600, 1_200_000)).toEqual([1_200, 1_200]);
  expect(await lifeOf(3_600, 60_000)).toEqual([900, 60]);
  expect(await lifeOf(60)).toEqual([900, 900]);
});

it('[MINT-5] each refusal of AWS is told in words that say what to do', async () => {
  const { server, obtain } = await sts();
  const said = async (attempt: Promise<unknown>, code = 'auth.refused'): Promise<string> => {
    const failure = await failureOf(attempt);
    expect(failure.code).toBe(code);
    expect(failure.said).not.toContain('EXAMPLE');
    return failure.said;
  };
  const wrong = JSON.stringify({ ...server.keys, secretAccessKey: 'wrongEXAMPLE' });
  expect(await said(obtain({}, {}, wrong))).toMatch(/SignatureDoesNotMatch.*clock/);
  const unknown = JSON.stringify({ ...server.keys, accessKeyId: 'AKIAUNKNOWNEXAMPLE00' });
  expect(await said(obtain({}, {}, unknown))).toMatch(/InvalidClientTokenId.*secret rotate key/);
  expect(await said(obtain({ roleArn: 'arn:aws:iam::123456789012:role/admin' }))).toContain('sts:AssumeRole');
  expect(await said(obtain({ durationSeconds: 7_200 }))).toContain('durationSeconds');
  expect(await said(obtain({}, {}, 'no keys, EXAMPLE'))).toContain("The secret 'key' holds no access key id");
  server.skewMs = 3_600_000;
  expect(await said(obtain())).toContain('RequestExpired');
  server.fault = 'malformed';
  expect(await said(obtain(), 'auth.unreachable')).toContain('without keys');
  server.fault = 'unavailable';
  await said(obtain(), 'auth.unreachable');
});
