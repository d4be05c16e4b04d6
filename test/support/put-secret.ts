// A secret into the vault of a house, the way the command line brings it: the value beside the statement, under its commitment.
import { createHash } from 'node:crypto';
import { sizeClassOf } from '../../src/features/vault/secret-value.ts';
import { commitmentInput } from '../../src/kernel/carried-secret.ts';
import { encodeBase64url } from '../../src/lib/base64url.ts';
import type { GatewayHouse } from './gateway-house.ts';

export async function putSecret(house: GatewayHouse, verb: 'add' | 'rotate', ref: string, text: string): Promise<void> {
  const value = new TextEncoder().encode(text);
  const salt = new Uint8Array(32).fill(7);
  const commitment = encodeBase64url(createHash('sha256').update(commitmentInput('value', { value, salt })).digest());
  const input = { ref, size: sizeClassOf(value.length), value_commitment: commitment };
  const operation = `vault.${verb}-secret`;
  const proof = house.operator.prove(await house.prepare(operation, input));
  const never = new AbortController().signal;
  await house.dispatch.operate({ kind: 'operator', proof }, operation, input, never, { value: { value, salt } });
}
