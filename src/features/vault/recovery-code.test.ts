import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDigest, createEntropy } from '../../platform/crypto.ts';
import { newRecoveryCode, recoveryGroups, recoverySecret } from './recovery-code.ts';

const digest = createDigest();
const fresh = (): string => newRecoveryCode(createEntropy(), digest);

test('[VAULT-6] a code is eight groups of four, without letters that look like others, and no two are alike', () => {
  const codes = Array.from({ length: 200 }, fresh);
  for (const code of codes) expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){7}[0-9A-HJKMNP-TV-Z]{4}$/);
  expect(new Set(codes).size).toBe(200);
  // Every character of the alphabet turns up: none of the 140 bits is fixed.
  expect(new Set(codes.join('').replaceAll('-', '')).size).toBe(32);
  expect(recoveryGroups(codes[0] ?? '')).toHaveLength(8);
});

test('[VAULT-6] however it is written down, it stands for the same secret', () => {
  const code = fresh();
  const secret = recoverySecret(code, digest);
  const spellings = [code.toLowerCase(), code.replaceAll('-', ''), code.replaceAll('-', ' '), ` ${code}\n`];
  for (const spelling of [...spellings, code.replaceAll('0', 'o').replaceAll('1', 'l')]) {
    expect(recoverySecret(spelling, digest)).toEqual(secret);
  }
});

test('[VAULT-6] one mistyped character is told as a slip of the pen, nearly always', () => {
  let slips = 0;
  const runs = 300;
  fc.assert(
    fc.property(fc.nat(27), fc.nat(30), (at, by) => {
      const code = fresh().replaceAll('-', '');
      const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
      const other = alphabet[(alphabet.indexOf(code[at] ?? '') + 1 + by) % 32] ?? '';
      slips += refusalOf(code.slice(0, at) + other + code.slice(at + 1))?.code === 'vault.bad_code' ? 1 : 0;
    }),
    { numRuns: runs },
  );
  // The check has 20 bits.
  expect(slips).toBeGreaterThanOrEqual(runs - 2);
});

test('[VAULT-6] what is no code at all is refused without repeating it', () => {
  for (const typed of ['ABCD', 'U'.repeat(32), '0'.repeat(33), 'correct horse battery staple 1234']) {
    const { message = '' } = refusalOf(typed) ?? {};
    expect(message).toMatch(/^This is not a recovery code: /);
    expect(message).not.toContain(typed);
  }
  expect(refusalOf('')).toMatchObject({ code: 'vault.bad_code', kind: 'invalid' });
});

function refusalOf(typed: string): { readonly code: string; readonly message: string } | undefined {
  try {
    recoverySecret(typed, digest);
  } catch (thrown) {
    return thrown as { code: string; message: string };
  }
  return undefined;
}
