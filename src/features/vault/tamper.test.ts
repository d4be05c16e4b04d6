// Somebody who can write the rows of the vault, and what comes of it: nothing opens that was not sealed as it stands.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeDatabases } from '../../../test/support/databases.ts';
import { bytes, keyFileSlot, openVaultHouse, operator, passphraseSlot, text } from '../../../test/support/vault-house.ts';
import type { Database } from '../../kernel/database.ts';
import { createDigest, createEntropy } from '../../platform/crypto.ts';
import { createVaultCipher } from '../../platform/vault-cipher.ts';
import { openValue, sealValue } from './entry.ts';
import type { EntryRow, SlotRow } from './rows.ts';
import { maxValueBytes, refName } from './model.ts';
import { newSlot, openSlot } from './slot.ts';
import { readVault, replaceVault } from './store.ts';

const tools = { cipher: createVaultCipher(), entropy: createEntropy(), digest: createDigest() };
const vault = { vault_id: '11111111-2222-4333-8444-555555555555', generation: 1 };
const otherVault = { ...vault, vault_id: '11111111-2222-4333-8444-555555555556' };
const key = tools.entropy.bytes(32);

function entryOf(name: string, version: number, value: Uint8Array, namespace = 'gate'): EntryRow {
  const place = { namespace, name, version };
  return { ...place, state: 'current', changed_at: '', until: null, ...sealValue(tools, key, vault, place, value) };
}

const names = fc.stringMatching(refName);
const values = fc.uint8Array({ minLength: 1, maxLength: 400 });

/** The text with one bit of what it stands for turned over. */
function flipped(sealed: string, at: number): string {
  const raw = Buffer.from(sealed, 'base64url');
  const index = at % (raw.length * 8);
  raw[index >> 3] = (raw[index >> 3] ?? 0) ^ (1 << (index & 7));
  return raw.toString('base64url');
}

describe('one value', () => {
  test('[VAULT-1] opens in its place, whatever it is, and any turned bit is refused', () => {
    fc.assert(
      fc.property(names, values, fc.nat(), (name, value, at) => {
        const row = entryOf(name, 1, value);
        expect(Buffer.from(openValue(tools, key, vault, row) ?? [])).toEqual(Buffer.from(value));
        expect(openValue(tools, key, vault, { ...row, sealed_value: flipped(row.sealed_value, at) })).toBeUndefined();
        expect(openValue(tools, key, vault, { ...row, wrapped_key: flipped(row.wrapped_key, at) })).toBeUndefined();
      }),
      { numRuns: 100 },
    );
  });

  test('[VAULT-1] renamed, moved to the other namespace, version, generation or vault, or cut short it is refused', () => {
    const row = entryOf('a', 2, bytes('value'));
    const moves: Partial<EntryRow>[] = [{ name: 'b' }, { namespace: 'credentials' }, { version: 1 }, { version: 3 }];
    for (const move of moves) expect(openValue(tools, key, vault, { ...row, ...move })).toBeUndefined();
    expect(openValue(tools, key, otherVault, row)).toBeUndefined();
    expect(openValue(tools, key, { ...vault, generation: 2 }, row)).toBeUndefined();
    expect(openValue(tools, tools.entropy.bytes(32), vault, row)).toBeUndefined();
    for (const cut of ['', 'AAAA', row.sealed_value.slice(0, -4), `${row.sealed_value}=`, `${row.sealed_value}AAAA`, '***']) {
      expect(openValue(tools, key, vault, { ...row, sealed_value: cut })).toBeUndefined();
    }
  });

  test('[VAULT-1] the halves of two values never make a third', () => {
    const [a, b] = [entryOf('a', 1, bytes('one')), entryOf('a', 2, bytes('two'))];
    expect(openValue(tools, key, vault, { ...a, sealed_value: b.sealed_value })).toBeUndefined();
    expect(openValue(tools, key, vault, { ...a, wrapped_key: b.wrapped_key })).toBeUndefined();
    expect(openValue(tools, key, vault, { ...a, wrapped_key: b.wrapped_key, sealed_value: b.sealed_value })).toBeUndefined();
  });

  test('[VAULT-1] the largest value opens again', () => {
    const value = tools.entropy.bytes(maxValueBytes);
    expect(Buffer.from(openValue(tools, key, vault, entryOf('big', 1, value)) ?? [])).toEqual(Buffer.from(value));
  });
});

describe('one slot', () => {
  const plan = { id: 'slot-1', kind: 'passphrase', label: 'x', created_at: '2026-01-01T00:00:00.000Z', params: '{"passes":3}' };
  const secret = tools.entropy.bytes(32);
  const row: SlotRow = newSlot(tools, vault, plan, secret, key);

  test('[VAULT-2] any turned bit of what is sealed, and any other secret, opens nothing', () => {
    fc.assert(
      fc.property(fc.nat(), fc.uint8Array({ minLength: 32, maxLength: 32 }), (at, other) => {
        expect(openSlot(tools, vault, { ...row, wrapped_private: flipped(row.wrapped_private, at) }, secret)).toBeUndefined();
        expect(openSlot(tools, vault, { ...row, sealed_key: flipped(row.sealed_key, at) }, secret)).toBeUndefined();
        expect(openSlot(tools, vault, { ...row, public_key: flipped(row.public_key, at) }, secret)).toBeUndefined();
        expect(openSlot(tools, vault, row, other)).toBeUndefined();
      }),
      { numRuns: 50 },
    );
    expect(Buffer.from(openSlot(tools, vault, row, secret) ?? [])).toEqual(Buffer.from(key));
  });

  test('[VAULT-2] with weaker parameters, another kind or id, or in another vault it opens nothing', () => {
    for (const change of [{ params: '{"passes":1}' }, { kind: 'recovery' }, { id: 'slot-2' }]) {
      expect(openSlot(tools, vault, { ...row, ...change }, secret)).toBeUndefined();
    }
    expect(openSlot(tools, otherVault, row, secret)).toBeUndefined();
    expect(openSlot(tools, { ...vault, generation: 2 }, row, secret)).toBeUndefined();
  });
});

type Edit = (queries: Database['queries']) => Promise<unknown>;

const edits: [what: string, edit: Edit][] = [
  ['a value was taken out', (queries) => queries.deleteFrom('vault_entry').where('name', '=', 'a').execute()],
  ['a value was renamed', (queries) => queries.updateTable('vault_entry').set({ name: 'c' }).where('name', '=', 'a').execute()],
  ['a previous value was made current', swapStates],
  [
    'the time of a previous value was stretched',
    (queries) =>
      queries.updateTable('vault_entry').set({ until: '2099-01-01T00:00:00.000Z' }).where('state', '=', 'previous').execute(),
  ],
  ['a slot was taken out', (queries) => queries.deleteFrom('vault_slot').where('kind', '=', 'passphrase').execute()],
  [
    'a slot was relabelled',
    (queries) => queries.updateTable('vault_slot').set({ label: 'mine' }).where('kind', '=', 'passphrase').execute(),
  ],
  ['a slot was copied under another id', copySlot],
  ['the counter was turned back', (queries) => queries.updateTable('vault_head').set({ counter: 1 }).execute()],
  [
    'the seal was turned',
    (queries) =>
      queries
        .updateTable('vault_head')
        .set({ mac: 'A'.repeat(43) })
        .execute(),
  ],
  ['the format became one of the future', (queries) => queries.updateTable('vault_head').set({ format: 2 }).execute()],
];

async function swapStates(queries: Database['queries']): Promise<void> {
  await queries.updateTable('vault_entry').set({ state: 'x' }).where('name', '=', 'b').where('state', '=', 'current').execute();
  await queries
    .updateTable('vault_entry')
    .set({ state: 'current' })
    .where('name', '=', 'b')
    .where('state', '=', 'previous')
    .execute();
}

async function copySlot(queries: Database['queries']): Promise<void> {
  const slot = await queries.selectFrom('vault_slot').selectAll().where('kind', '=', 'passphrase').executeTakeFirstOrThrow();
  await queries
    .insertInto('vault_slot')
    .values({ ...slot, id: 'another' })
    .execute();
}

describeDatabases('[STORE-1] edited rows', (open) => {
  async function filled() {
    const house = await openVaultHouse(await open());
    await house.vault.slots.create([keyFileSlot, passphraseSlot(1)], operator);
    await house.vault.secrets.add('a', bytes('one'), operator);
    await house.vault.secrets.add('b', bytes('two'), operator);
    await house.vault.secrets.rotate('b', bytes('three'), operator);
    return house;
  }

  test.each(edits)('[VAULT-7] %s: the vault does not open, says so, and a running one changes nothing more', async (_, edit) => {
    const { vault, db, restart, audit } = await filled();
    await edit(db.queries);
    await expect(vault.secrets.add('d', bytes('x'), operator)).rejects.toMatchObject({ code: 'vault.damaged' });
    expect(vault.state()).toBe('damaged');
    const next = await restart();
    expect(await next.slots.openByMachine()).toBe(false);
    expect(next.state()).toBe('damaged');
    await expect(next.values(['a'], { signal: new AbortController().signal })).rejects.toMatchObject({ code: 'vault.damaged' });
    expect(audit.of('vault.damaged').length).toBeGreaterThan(0);
  });

  test('[VAULT-7] an older copy of all rows is refused by whoever knows the newer one', async () => {
    const { vault, db } = await filled();
    const old = await readVault(db.queries);
    await vault.secrets.rotate('a', bytes('newer'), operator);
    await db.transaction(async (tx) => {
      if (old !== undefined) await replaceVault(tx, await readVault(tx), old);
    });
    await expect(vault.secrets.add('d', bytes('x'), operator)).rejects.toMatchObject({ code: 'vault.damaged' });
  });

  test('[VAULT-7] an older copy of all rows is not opened either, locked or damaged as the vault was when it was put there', async () => {
    const { vault, db } = await filled();
    const old = await readVault(db.queries);
    await vault.secrets.rotate('a', bytes('newer'), operator);
    const newer = await readVault(db.queries);
    await vault.lock('local');
    const put = (rows: typeof old): Promise<void> =>
      db.transaction(async (tx) => {
        if (rows !== undefined) await replaceVault(tx, await readVault(tx), rows);
      });
    await put(old);
    for (let times = 0; times < 2; times += 1) {
      expect(await vault.slots.openByMachine()).toBe(false);
      expect(vault.state()).toBe('damaged');
    }
    await put(newer);
    expect(await vault.slots.openByMachine()).toBe(true);
    const [secret] = await vault.values(['a'], { signal: new AbortController().signal });
    expect(text(secret?.value ?? new Uint8Array())).toBe('newer');
  });

  test('[VAULT-7] put back as they were, the rows open again', async () => {
    const { db, restart } = await filled();
    const good = await readVault(db.queries);
    await db.queries.deleteFrom('vault_entry').execute();
    const next = await restart();
    expect(await next.slots.openByMachine()).toBe(false);
    await db.transaction(async (tx) => {
      if (good !== undefined) await replaceVault(tx, await readVault(tx), good);
    });
    expect(await next.slots.openByMachine()).toBe(true);
    const [secret] = await next.values(['b'], { signal: new AbortController().signal });
    expect(text(secret?.value ?? new Uint8Array())).toBe('three');
  });
});
