import { expect, test } from 'vitest';
import { z } from 'zod';
import { commitmentInput, type CarriedSecret } from '../../kernel/carried-secret.ts';
import { defineOperation, type Access } from '../../kernel/operation.ts';
import { encodeBase64url } from '../../lib/base64url.ts';
import { createDigest, createEntropy } from '../../platform/crypto.ts';
import { carriedSecrets, wipe } from './carried-secrets.ts';

const digest = createDigest();
const canary = 'cAnArY-carried-9f2e';

function secret(text: string = canary): CarriedSecret {
  return { value: new TextEncoder().encode(text), salt: createEntropy().bytes(32) };
}

function operation(access: Access) {
  return defineOperation<{ value_commitment: string }, object>({
    name: 'things.put',
    summary: 'Put a thing.',
    input: z.strictObject({ value_commitment: z.string() }),
    output: z.strictObject({}),
    effect: 'change',
    access,
    secrets: () => ['value'],
    run: () => Promise.resolve({}),
  });
}

const commitmentOf = (name: string, carried: CarriedSecret): string =>
  encodeBase64url(digest.sha256(commitmentInput(name, carried)));

function refusal(run: () => unknown): { code: string; message: string } {
  try {
    run();
  } catch (thrown) {
    return thrown as { code: string; message: string };
  }
  throw new Error('it passed');
}

test('[SECRET-2] the value that was committed to passes, any other value, salt or name does not', () => {
  const value = secret();
  const input = { value_commitment: commitmentOf('value', value) };
  const passed = carriedSecrets(operation('operator'), input, { value }, digest);
  expect(new TextDecoder().decode(passed['value'])).toBe(canary);
  for (const other of [
    { ...value, value: new TextEncoder().encode(`${canary}x`) },
    { ...value, value: new Uint8Array() },
    { ...value, salt: createEntropy().bytes(32) },
  ]) {
    const refused = refusal(() => carriedSecrets(operation('operator'), input, { value: other }, digest));
    expect(refused.code).toBe('gateway.other_secret');
    expect(JSON.stringify(refused) + refused.message).not.toContain(canary);
  }
  const renamed = { value_commitment: commitmentOf('key', value) };
  expect(refusal(() => carriedSecrets(operation('operator'), renamed, { value }, digest)).code).toBe('gateway.other_secret');
});

test('[SECRET-2] equal values have different commitments, so that a kept statement tells nothing about the value', () => {
  expect(commitmentOf('value', secret())).not.toBe(commitmentOf('value', secret()));
});

test('[SECRET-2] a secret too many or too few is refused, and none is named', () => {
  const input = { value_commitment: '' };
  for (const carried of [{}, { other: secret() }, { value: secret(), other: secret() }]) {
    const refused = refusal(() => carriedSecrets(operation('operator'), input, carried, digest));
    expect(refused).toMatchObject({ code: 'gateway.misuse', message: "'things.put' needs beside this input: value." });
  }
  const none = { ...operation('local'), secrets: () => [] };
  expect(refusal(() => carriedSecrets(none, {}, { value: secret() }, digest)).code).toBe('gateway.misuse');
});

test('[SECRET-3] what was carried is zeroed', () => {
  const value = secret();
  wipe({ value });
  expect([...value.value, ...value.salt].every((byte) => byte === 0)).toBe(true);
});
