// Format 1, frozen: with entropy that follows from a number alone, the same acts give the same bytes. A red line here means that vaults
// which exist could not be opened any more; a new format gets a number and vectors of its own.
import { expect, test } from 'vitest';
import { bytes, countingEntropy, text } from '../../../test/support/vault-house.ts';
import { createDigest } from '../../platform/crypto.ts';
import { createVaultCipher } from '../../platform/vault-cipher.ts';
import { openValue, rewrapValue, sealValue } from './entry.ts';
import { headFits, sealHead } from './head.ts';
import { newKdf, kdfText } from './kdf.ts';
import { recoverySecret } from './recovery-code.ts';
import type { EntryRow, SlotRow } from './rows.ts';
import { pad } from './secret-value.ts';
import { newSlot, openSlot, resealSlot } from './slot.ts';

const tools = { cipher: createVaultCipher(), entropy: countingEntropy(), digest: createDigest() };
const created_at = '2026-01-01T00:00:00.000Z';
const head = { format: 1, vault_id: '11111111-2222-4333-8444-555555555555', generation: 1, counter: 1, created_at };
const vaultKey = tools.entropy.bytes(32);
const secret = bytes('0123456789abcdef0123456789abcdef');
const plan = {
  id: '99999999-8888-4777-8666-555555555555',
  kind: 'passphrase',
  label: 'desk',
  created_at,
  params: kdfText(newKdf('AAECAwQFBgcICQoLDA0ODw')),
};
const place = { namespace: 'gate', name: 'github_token', version: 3 };

const slot: SlotRow = newSlot(tools, head, plan, secret, vaultKey);
const entry: EntryRow = {
  ...place,
  state: 'current',
  changed_at: created_at,
  until: null,
  ...sealValue(tools, vaultKey, head, place, bytes('ghp_example')),
};

test('[VAULT-1] a slot, a value and the head are these bytes', () => {
  expect({
    slot,
    entry,
    mac: sealHead(tools, vaultKey, { head, slots: [slot], entries: [entry] }).head.mac,
  }).toMatchInlineSnapshot(`
    {
      "entry": {
        "changed_at": "2026-01-01T00:00:00.000Z",
        "name": "github_token",
        "namespace": "gate",
        "sealed_value": "G067V4G2LSGTXuJcCzJNAIhuLRnsJ3QGJULrub50aS967p1zgx1JBDWE6x1QiBkkgGZNkB76X64ts-sxwrxd4Cb5_KmvC0N-b1_kVAmLluSRRLKwAQzAIcsiElqwd1Gp",
        "state": "current",
        "until": null,
        "version": 3,
        "wrapped_key": "qezos0YTuZEv_cjSumhbnVXigw2flNQCPIpcCR7ZZZSGtn5eSFFTwngJsZWyBZz35QyW_jQJnRZiNbt4",
      },
      "mac": "vNPsyLVvytMrfN3u41mtmK0zqwNntWLwBoTesN6xPB0",
      "slot": {
        "created_at": "2026-01-01T00:00:00.000Z",
        "id": "99999999-8888-4777-8666-555555555555",
        "kind": "passphrase",
        "label": "desk",
        "params": "{"kdf":"argon2id","memory_kib":65536,"parallelism":1,"passes":3,"salt":"AAECAwQFBgcICQoLDA0ODw"}",
        "public_key": "-n3WbrIAs9dzOL_u0f_v6r4P4K3pkgKPAdyqfjRNrTc",
        "sealed_key": "DxBNo-ufFDENuI3ppozMItyuzYZ3KLVQ7Rs9qoTuVHDvcb8lQe9F2QkzSbdcSmFy-ezx4TLlccggcQlOSVjTAzgxml0UCkVRSJ-M8rNS7Oo",
        "wrapped_private": "L6ruQ1H5cJw8POg6aLG3M_Vl5_py96EH0kDBEenHAoyRCgxeaTmnmx54MS6X6rIDB9QbtqOMMwapNgGZ",
      },
    }
  `);
});

test('[VAULT-1] the bytes of the vectors open again', () => {
  const opened = openSlot(tools, head, slot, secret);
  expect(Buffer.from(opened ?? [])).toEqual(Buffer.from(vaultKey));
  expect(text(openValue(tools, vaultKey, head, entry) ?? new Uint8Array())).toBe('ghp_example');
  const rows = sealHead(tools, vaultKey, { head, slots: [slot], entries: [entry] });
  expect(headFits(tools, vaultKey, { ...rows, slots: [...rows.slots] })).toBe(true);
});

test('[VAULT-1] a new vault key changes what wraps a value and what is sealed to a slot, and nothing else', () => {
  const next = { key: tools.entropy.bytes(32), vault: { ...head, generation: 2 } };
  const rewrapped = rewrapValue(tools, { key: vaultKey, vault: head }, next, entry);
  expect({ ...rewrapped, wrapped_key: '' }).toEqual({ ...entry, wrapped_key: '' });
  const resealed = resealSlot(tools, next.vault, slot, next.key);
  expect({ ...resealed, sealed_key: '' }).toEqual({ ...slot, sealed_key: '' });
  expect(Buffer.from(openSlot(tools, next.vault, resealed, secret) ?? [])).toEqual(Buffer.from(next.key));
  expect(openSlot(tools, head, resealed, secret)).toBeUndefined();
});

test('[VAULT-1] a value is padded with its length in front', () => {
  expect(Buffer.from(pad(bytes('abc'))).toString('hex')).toBe(`00000003616263${'00'.repeat(61)}`);
});

test('[VAULT-1] a recovery code stands for the characters before its check', () => {
  expect(text(recoverySecret('0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV-XXXX'.replace('XXXX', checkGroup()), createDigest()))).toBe(
    '0123456789ABCDEFGHJKMNPQRSTV',
  );
  expect(checkGroup()).toMatchInlineSnapshot(`"XDAN"`);
});

/** The first four bytes of SHA-256 over the domain and the characters, five bits of each. */
function checkGroup(): string {
  const hash = createDigest().sha256('sallyport recovery code v1\n0123456789ABCDEFGHJKMNPQRSTV');
  return Array.from(hash.subarray(0, 4), (byte) => '0123456789ABCDEFGHJKMNPQRSTVWXYZ'[byte & 31]).join('');
}
