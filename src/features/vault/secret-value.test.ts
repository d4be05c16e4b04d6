import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytes } from '../../../test/support/vault-house.ts';
import { maxValueBytes, sizeClasses } from './model.ts';
import { assertValue, pad, sizeClassOf, unpad } from './secret-value.ts';

const canary = 'cAnArY-value-31c4';

function refusal(value: Uint8Array): Error & { code?: string } {
  try {
    assertValue(value);
  } catch (thrown) {
    return thrown as Error;
  }
  throw new Error('it passed');
}

test('[SECRET-3] what cannot be a value is refused in words that do not repeat it', () => {
  const bad: [Uint8Array, string][] = [
    [new Uint8Array(), 'it is empty'],
    [bytes(' \n\t'), 'it is blank'],
    [bytes(`${canary}\0`), 'NUL'],
    [Uint8Array.from([...bytes(canary), 0xff]), 'not UTF-8'],
    [Uint8Array.from([...bytes(canary), 0xc0, 0x80]), 'not UTF-8'],
    [bytes(canary.padEnd(maxValueBytes + 1, 'x')), 'longer than 65536 bytes'],
  ];
  for (const [value, why] of bad) {
    const refused = refusal(value);
    expect([refused.code, refused.message]).toEqual(['vault.bad_value', expect.stringContaining(why)]);
    expect(JSON.stringify(refused) + refused.message + (refused.stack ?? '')).not.toContain(canary);
  }
});

test('keys of several lines, other scripts and 64 KiB are values', () => {
  for (const value of ['-----BEGIN KEY-----\nabc\n-----END KEY-----', 'пароль', 'x'.repeat(maxValueBytes), '\u{1F511}']) {
    expect(() => assertValue(bytes(value))).not.toThrow();
  }
});

test('[VAULT-1] padding is undone exactly, and only what padding writes is taken', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), fc.nat(), (value, at) => {
      const padded = pad(value);
      expect(sizeClasses).toContain(padded.length - 4);
      expect(padded.length - 4).toBe(sizeClassOf(value.length));
      expect(Buffer.from(unpad(padded) ?? [])).toEqual(Buffer.from(value));
      const behind = 4 + value.length + (at % (padded.length - 4 - value.length + 1));
      if (behind >= padded.length) return;
      padded[behind] = 1;
      expect(unpad(padded)).toBeUndefined();
    }),
  );
  for (const odd of [[], [0, 0, 0], [0, 0, 0, 1], [0xff, 0xff, 0xff, 0xff, 0]]) expect(unpad(Uint8Array.from(odd))).toBeUndefined();
});

test('[SECRET-3] what is unpadded is a copy of its own, so that the padded bytes can be zeroed', () => {
  const padded = Buffer.from(pad(bytes(canary)));
  const value = unpad(padded);
  padded.fill(0);
  expect(new TextDecoder().decode(value)).toBe(canary);
});
