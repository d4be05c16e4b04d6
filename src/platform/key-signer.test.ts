import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { expect, it } from 'vitest';
import type { SigningKey } from '../kernel/ports.ts';
import { createKeySigner } from './key-signer.ts';

const signer = createKeySigner();
function key(text: string): SigningKey {
  const read = signer.read(text);
  if ('problem' in read) throw new Error(read.problem);
  return read;
}
const problem = (text: string): unknown => signer.read(text);

// RFC 8037 appendix A.1 and A.4.
const ed25519 = {
  kty: 'OKP',
  crv: 'Ed25519',
  d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
};
const ed25519Input = 'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc';
const ed25519Signature = 'hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg';

// RFC 7515 appendix A.3: the key and what it signs; ECDSA is not repeatable, so its signature is verified instead.
const p256 = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
};
const p256Input =
  'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ';
const p256Signature = 'DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q';

it('[MINT-2] signs as RFC 8037 shows it, byte for byte', async () => {
  const signing = key(JSON.stringify(ed25519));
  expect(signing.algorithm).toBe('EdDSA');
  expect(Buffer.from(await signing.sign(ed25519Input)).toString('base64url')).toBe(ed25519Signature);
});

it('[MINT-2] signs ES256 in the form in which RFC 7515 shows its signature', async () => {
  const publicKey = createPublicKey({ key: p256, format: 'jwk' });
  const holds = (signature: Uint8Array) =>
    verify('sha256', Buffer.from(p256Input), { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
  expect(holds(Buffer.from(p256Signature, 'base64url'))).toBe(true);
  const signing = key(JSON.stringify({ ...p256, kid: 'k1' }));
  expect([signing.algorithm, signing.keyId]).toEqual(['ES256', 'k1']);
  const own = await signing.sign(p256Input);
  expect([own.length, holds(own)]).toEqual([64, true]);
});

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

it('[MINT-2] reads a PEM in each of its forms, and one whose lines were joined for a variable', async () => {
  const forms = (['pkcs1', 'pkcs8'] as const).map((type) => rsa.privateKey.export({ type, format: 'pem' }) as string);
  for (const text of [...forms, ...forms.map((form) => form.trim().replaceAll('\n', '\\n'))]) {
    const signature = await key(text).sign('data');
    expect(verify('sha256', Buffer.from('data'), rsa.publicKey, signature)).toBe(true);
  }
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  expect(key(ec.export({ type: 'sec1', format: 'pem' }) as string).algorithm).toBe('ES256');
});

it('[MINT-2] says what is wrong with a secret that is no usable key, and shows none of it', () => {
  const pem = (pair: { privateKey: { export(options: object): unknown } }) =>
    pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  expect(problem(rsa.publicKey.export({ type: 'spki', format: 'pem' }) as string)).toMatchObject({
    problem: expect.stringContaining('public key') as string,
  });
  const closed = rsa.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }) as string;
  expect(problem(closed)).toMatchObject({ problem: expect.stringContaining('passphrase') as string });
  expect(problem(pem(generateKeyPairSync('rsa', { modulusLength: 1024 })))).toMatchObject({
    problem: expect.stringContaining('1024') as string,
  });
  expect(problem(pem(generateKeyPairSync('ec', { namedCurve: 'P-384' })))).toMatchObject({
    problem: expect.stringContaining('another kind') as string,
  });
  expect(problem(pem(generateKeyPairSync('x25519')))).toMatchObject({ problem: expect.stringContaining('another kind') as string });
  expect(problem(JSON.stringify({ ...p256, d: undefined }))).toMatchObject({
    problem: expect.stringContaining('private part') as string,
  });
  expect(problem(JSON.stringify({ ...p256, alg: 'RS256' }))).toMatchObject({
    problem: expect.stringContaining('another algorithm') as string,
  });
  for (const text of ['', 'geheim-1234', '{"geheim-1234"', '-----BEGIN PRIVATE KEY-----\ngeheim-1234\n-----END PRIVATE KEY-----']) {
    expect(problem(text)).toEqual({ problem: 'is no private key in PEM or JWK' });
  }
});
