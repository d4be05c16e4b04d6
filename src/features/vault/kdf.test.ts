import { expect, test } from 'vitest';
import { kdfText, newKdf, readKdf } from './kdf.ts';

const usual = newKdf('AAECAwQFBgcICQoLDA0ODw');

test('[VAULT-2] what a slot is made with can be read again', () => {
  expect(readKdf(kdfText(usual))).toEqual(usual);
});

test('[VAULT-2] parameters below the floor, beyond the ceiling or of another function are not derived with', () => {
  const edited: object[] = [
    { memory_kib: 19_456 },
    { memory_kib: 65_535 },
    { memory_kib: 4_194_304 },
    { passes: 2 },
    { passes: 1_000 },
    { parallelism: 0 },
    { parallelism: 64 },
    { salt: '' },
    { salt: 'AAAA' },
    { kdf: 'argon2i' },
    { kdf: 'none' },
    { more: 1 },
  ];
  for (const change of edited) expect(readKdf(JSON.stringify({ ...usual, ...change }))).toBeUndefined();
  for (const odd of ['', '{}', 'null', '[]', '{"kdf"']) expect(readKdf(odd)).toBeUndefined();
});
