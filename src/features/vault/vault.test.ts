// The life of a vault on both databases: made, opened, locked, changed, opened again; and what is refused on the way.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { describeDatabases } from '../../../test/support/databases.ts';
import {
  bytes,
  keyFileSlot,
  openVaultHouse,
  operator,
  passphraseSlot,
  recoverySlot,
  text,
  valueOf,
} from '../../../test/support/vault-house.ts';
import { createFiles } from '../../platform/files.ts';
import { createVaultKeyFile } from '../../platform/vault-key-file.ts';
import { previousLifeMs } from './model.ts';
import { readVault } from './store.ts';

const canary = 'cAnArY-7f3b-value';

describeDatabases('[STORE-1] the vault', (open) => {
  test('[VAULT-3] a value is there after a restart, once the machine opened the vault', async () => {
    const { vault, restart, audit } = await openVaultHouse(await open());
    expect(vault.state()).toBe('absent');
    await vault.slots.create([keyFileSlot], operator);
    await vault.secrets.add('github_token', bytes(canary), operator);
    expect([vault.state(), vault.refs(), await valueOf(vault, 'github_token')]).toEqual(['open', ['github_token'], canary]);

    const next = await restart();
    expect([next.state(), next.refs(), next.known('github_token')]).toEqual(['locked', ['github_token'], true]);
    expect(() => next.redactionValues(['github_token'])).toThrow(expect.objectContaining({ code: 'vault.locked' }));
    expect(await next.slots.openByMachine()).toBe(true);
    expect(await valueOf(next, 'github_token')).toBe(canary);
    expect(audit.of('vault.opened')).toEqual([
      { event: 'vault.opened', actor: 'daemon', facts: { slot: next.slots.list()[0]?.id, kind: 'key_file' } },
    ]);
  });

  test('[SECRET-3] neither a row nor the record holds a value, its length or a key', async () => {
    const { vault, db, audit, keys } = await openVaultHouse(await open());
    await vault.slots.create([keyFileSlot, passphraseSlot(7)], operator);
    await vault.secrets.add('short', bytes('abc'), operator);
    await vault.secrets.add('longer', bytes(canary.repeat(3)), operator);
    await vault.secrets.rotate('short', bytes(canary), operator);
    const rows = await readVault(db.queries);
    const stored = JSON.stringify([rows, audit.entries]);
    const secrets = [canary, ...[...keys.key_file.kept.values()].map((key) => Buffer.from(key).toString('base64url'))];
    for (const secret of secrets) expect(stored).not.toContain(secret);
    const lengths = new Set(rows?.entries.map(({ sealed_value }) => sealed_value.length));
    expect([...lengths]).toHaveLength(1);
  });

  test('[SECRET-4] after a rotation both values are masked for a day, then the old one is gone from the rows', async () => {
    const { vault, clock, db, audit } = await openVaultHouse(await open());
    await vault.slots.create([keyFileSlot], operator);
    await vault.secrets.add('a', bytes('first'), operator);
    await vault.secrets.add('b', bytes('other'), operator);
    await vault.secrets.rotate('a', bytes('second'), operator);
    expect(await valueOf(vault, 'a')).toBe('second');
    expect(vault.redactionValues(['a']).map(text).toSorted()).toEqual(['first', 'second']);
    await vault.secrets.rotate('a', bytes('third'), operator);
    expect(vault.redactionValues(['a']).map(text).toSorted()).toEqual(['second', 'third']);
    expect(vault.secrets.list()[0]).toMatchObject({ ref: 'a', version: 3, previousUntil: '2026-01-02T00:00:00.000Z' });

    clock.advance(previousLifeMs);
    await expect
      .poll(() => audit.of('secret.retired').map(({ facts }) => facts))
      .toEqual([{ namespace: 'gate', ref: 'a', version: 2 }]);
    expect(vault.redactionValues(['a']).map(text)).toEqual(['third']);
    expect((await readVault(db.queries))?.entries.map(({ name, version }) => `${name} ${version}`).toSorted()).toEqual([
      'a 3',
      'b 1',
    ]);
  });

  test('[SECRET-4] a removed value is gone from the rows at once and masked for a day while the vault stays open', async () => {
    const { vault, clock, db } = await openVaultHouse(await open());
    await vault.slots.create([keyFileSlot], operator);
    await vault.secrets.add('a', bytes('gone'), operator);
    await vault.secrets.remove('a', operator);
    expect([vault.refs(), (await readVault(db.queries))?.entries]).toEqual([[], []]);
    expect(vault.redactionValues(['a']).map(text)).toEqual(['gone']);
    await vault.secrets.add('a', bytes('new'), operator);
    expect(vault.redactionValues(['a']).map(text).toSorted()).toEqual(['gone', 'new']);
    clock.advance(previousLifeMs);
    expect(vault.redactionValues(['a']).map(text)).toEqual(['new']);
    await vault.lock('local');
    expect(() => vault.redactionValues(['a'])).toThrow(expect.objectContaining({ code: 'vault.locked' }));
  });

  test('[SECRET-4] a value removed stays masked for its day whatever is done under its name, and so does the one before it', async () => {
    const { vault, clock } = await openVaultHouse(await open());
    await vault.slots.create([keyFileSlot], operator);
    await vault.secrets.add('a', bytes('first'), operator);
    await vault.secrets.remove('a', operator);
    await vault.secrets.add('a', bytes('second'), operator);
    await vault.secrets.rotate('a', bytes('third'), operator);
    clock.advance(previousLifeMs / 2);
    await vault.secrets.remove('a', operator);
    expect(vault.redactionValues(['a']).map(text).toSorted()).toEqual(['first', 'second', 'third']);
    clock.advance(previousLifeMs / 2);
    expect(vault.redactionValues(['a']).map(text)).toEqual(['third']);
    clock.advance(previousLifeMs / 2);
    expect(vault.redactionValues(['a'])).toEqual([]);
  });

  test('[VAULT-2] each slot opens with its own secret and with no other', async () => {
    const { vault, restart, audit } = await openVaultHouse(await open());
    await vault.slots.create([keyFileSlot, passphraseSlot(1)], operator);
    await vault.slots.add(passphraseSlot(2), operator);
    await vault.slots.add(recoverySlot(3), operator);
    await vault.secrets.add('a', bytes(canary), operator);
    const byKind = vault.slots.list().filter(({ kind }) => kind !== 'key_file');
    const secrets = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2), new Uint8Array(28).fill(3)];
    for (const [at, slot] of byKind.entries()) {
      for (const [of, secret] of secrets.entries()) {
        const next = await restart();
        const outcome = await next.open(slot.id, secret.slice()).then(
          () => 'opened',
          (thrown: { code: string }) => thrown.code,
        );
        expect([outcome, next.state()]).toEqual(of === at ? ['opened', 'open'] : ['vault.wrong_key', 'locked']);
      }
    }
    expect(audit.of('vault.refused')).toHaveLength(6);
  });

  test('[VAULT-2] of two slots that are made at once for the one key file the second is refused, and takes nothing from the first', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sallyport-key-file-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const key_file = createVaultKeyFile(createFiles(), join(folder, 'vault.key'));
    const { vault, keys, restart } = await openVaultHouse(await open());
    await vault.slots.create([passphraseSlot(1)], operator);
    const next = await restart({ startKeys: { ...keys, key_file } });
    await next.open(next.slots.list()[0]?.id ?? '', new Uint8Array(32).fill(1));
    const made = await Promise.allSettled([next.slots.add(keyFileSlot, operator), next.slots.add(keyFileSlot, operator)]);
    expect(made.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const last = await restart({ startKeys: { ...keys, key_file } });
    expect(await last.slots.openByMachine(['key_file'])).toBe(true);
  });

  test('[VAULT-4] a new vault key leaves every slot and every value usable, and the old key opens nothing', async () => {
    const { vault, restart, db } = await openVaultHouse(await open());
    await vault.slots.create([keyFileSlot, passphraseSlot(1)], operator);
    await vault.secrets.add('a', bytes(canary), operator);
    const before = await readVault(db.queries);
    await vault.slots.rotateKey(operator);
    expect(await valueOf(vault, 'a')).toBe(canary);
    const after = await readVault(db.queries);
    expect(after?.head.generation).toBe(2);
    expect(after?.slots.map(({ sealed_key }) => sealed_key)).not.toEqual(before?.slots.map(({ sealed_key }) => sealed_key));
    expect(after?.entries[0]?.wrapped_key).not.toBe(before?.entries[0]?.wrapped_key);
    const next = await restart();
    await next.open(next.slots.list().find(({ kind }) => kind === 'passphrase')?.id ?? '', new Uint8Array(32).fill(1));
    expect(await valueOf(next, 'a')).toBe(canary);
  });

  test('[VAULT-4] a removed slot opens nothing any more, and neither does the key it opened', async () => {
    const { vault, restart, db, keys } = await openVaultHouse(await open());
    await vault.slots.create([keyFileSlot, passphraseSlot(1)], operator);
    const gone = vault.slots.list().find(({ kind }) => kind === 'key_file')?.id ?? '';
    await vault.slots.remove(gone, operator);
    expect(keys.key_file.kept.size).toBe(0);
    expect((await readVault(db.queries))?.head.generation).toBe(2);
    const next = await restart();
    await expect(next.open(gone, new Uint8Array(32))).rejects.toMatchObject({ code: 'vault.unknown_slot' });
    expect(await next.slots.openByMachine()).toBe(false);
  });

  test('[VAULT-4] the last slot, and the last one a person can open, stay', async () => {
    const { vault } = await openVaultHouse(await open());
    await vault.slots.create([keyFileSlot], operator);
    const [first] = vault.slots.list();
    await expect(vault.slots.remove(first?.id ?? '', operator)).rejects.toMatchObject({ code: 'vault.last_slot' });
    const person = await vault.slots.add(passphraseSlot(1), operator);
    await expect(vault.slots.remove(person.id, operator)).rejects.toMatchObject({ code: 'vault.last_slot' });
    await expect(vault.slots.add(keyFileSlot, operator)).rejects.toMatchObject({ code: 'vault.slot_exists' });
    expect(vault.slots.list()).toHaveLength(2);
  });

  test('[VAULT-6] recovery opens the vault, uses the code up and puts the new one in its place', async () => {
    const { vault, restart, audit } = await openVaultHouse(await open());
    await vault.slots.create([keyFileSlot, recoverySlot(1)], operator);
    await vault.secrets.add('a', bytes(canary), operator);
    const old = vault.slots.list().find(({ kind }) => kind === 'recovery')?.id ?? '';
    const next = await restart();
    await expect(next.slots.recover(old, new Uint8Array(28).fill(9), recoverySlot(2), operator)).rejects.toMatchObject({
      code: 'vault.wrong_key',
    });
    await next.slots.recover(old, new Uint8Array(28).fill(1), recoverySlot(2), operator);
    expect(await valueOf(next, 'a')).toBe(canary);
    expect(audit.of('vault.recovered')).toHaveLength(1);
    const fresh = next.slots.list().find(({ kind }) => kind === 'recovery')?.id ?? '';
    const again = await restart();
    await expect(again.open(old, new Uint8Array(28).fill(1))).rejects.toMatchObject({ code: 'vault.unknown_slot' });
    await again.open(fresh, new Uint8Array(28).fill(2));
    expect(await valueOf(again, 'a')).toBe(canary);
  });

  test('[VAULT-6] a new recovery code takes the place of the one before', async () => {
    const { vault, restart } = await openVaultHouse(await open());
    await vault.slots.create([keyFileSlot, recoverySlot(1)], operator);
    const fresh = await vault.slots.add(recoverySlot(2), operator);
    expect(vault.slots.list().filter(({ kind }) => kind === 'recovery')).toHaveLength(1);
    const next = await restart();
    await next.open(fresh.id, new Uint8Array(28).fill(2));
    expect(next.state()).toBe('open');
  });

  test('[VAULT-5] a commit that fails behind its end leaves memory with what the database has', async () => {
    const { vault, audit } = await openVaultHouse(await open());
    await vault.slots.create([keyFileSlot], operator);
    await vault.secrets.add('a', bytes('old'), operator);
    audit.syncing(() => Promise.reject(new Error('the connection broke')));
    await expect(vault.secrets.rotate('a', bytes('new'), operator)).rejects.toThrow('the connection broke');
    await expect(vault.slots.rotateKey(operator)).rejects.toThrow('the connection broke');
    audit.syncing(() => Promise.resolve());
    expect(await valueOf(vault, 'a')).toBe('new');
    audit.fail(true);
    await expect(vault.secrets.rotate('a', bytes('newer'), operator)).rejects.toMatchObject({ code: 'audit.unavailable' });
    expect(await valueOf(vault, 'a')).toBe('new');
    audit.fail(false);
    await vault.secrets.rotate('a', bytes('newest'), operator);
    expect(await valueOf(vault, 'a')).toBe('newest');
  });

  test('[VAULT-3] without a record the vault is not opened', async () => {
    const { vault, audit, restart } = await openVaultHouse(await open());
    await vault.slots.create([keyFileSlot], operator);
    const next = await restart();
    audit.fail(true);
    expect(await next.slots.openByMachine()).toBe(false);
    expect(next.state()).toBe('locked');
    audit.fail(false);
    expect(await next.slots.openByMachine()).toBe(true);
  });

  test('what is there is not added, what is not there is neither changed nor handed out', async () => {
    const { vault } = await openVaultHouse(await open());
    const signal = new AbortController().signal;
    await expect(vault.values(['a'], { signal })).rejects.toMatchObject({ code: 'vault.absent' });
    await vault.slots.create([keyFileSlot], operator);
    await vault.secrets.add('a', bytes('1'), operator);
    await expect(vault.secrets.add('a', bytes('2'), operator)).rejects.toMatchObject({ code: 'vault.ref_exists' });
    await expect(vault.secrets.rotate('b', bytes('2'), operator)).rejects.toMatchObject({ code: 'vault.unknown_ref' });
    await expect(vault.secrets.remove('b', operator)).rejects.toMatchObject({ code: 'vault.unknown_ref' });
    await expect(vault.values(['a', 'b'], { signal })).rejects.toMatchObject({ code: 'vault.unknown_ref' });
    await expect(vault.slots.create([keyFileSlot], operator)).rejects.toMatchObject({ code: 'vault.exists' });
    expect(await valueOf(vault, 'a')).toBe('1');
  });

  test('listeners hear of each change after it is committed', async () => {
    const { vault } = await openVaultHouse(await open());
    const heard: string[] = [];
    vault.onChanged((ref) => heard.push(`${ref} ${String(vault.known(ref))}`));
    await vault.slots.create([keyFileSlot], operator);
    await vault.secrets.add('a', bytes('1'), operator);
    await vault.secrets.rotate('a', bytes('2'), operator);
    await vault.secrets.remove('a', operator);
    expect(heard).toEqual(['a true', 'a true', 'a false']);
  });
});

describe('waiting for a locked vault', () => {
  describeDatabases('with a vault that is locked', (open) => {
    async function lockedHouse() {
      const house = await openVaultHouse(await open());
      await house.vault.slots.create([keyFileSlot], operator);
      await house.vault.secrets.add('a', bytes('value'), operator);
      await house.vault.lock('local');
      return house;
    }

    test('[VAULT-3] a caller waits, is told each 10 s, and goes on when the vault is opened', async () => {
      const { vault, clock } = await lockedHouse();
      const waited: number[] = [];
      const signal = new AbortController().signal;
      const values = vault.values(['a'], { signal, onProgress: (seconds) => waited.push(seconds) });
      clock.advance(125_000);
      expect(waited).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120]);
      await vault.slots.openByMachine();
      expect((await values).map(({ value }) => text(value))).toEqual(['value']);
    });

    test('[VAULT-3] without progress it says after 55 s which command opens the vault; who went away waits no more', async () => {
      const { vault, clock } = await lockedHouse();
      const gone = new AbortController();
      const signal = new AbortController().signal;
      const [first, second] = [vault.values(['a'], { signal }), vault.values(['a'], { signal: gone.signal })];
      gone.abort();
      await expect(second).rejects.toMatchObject({ code: 'vault.locked' });
      clock.advance(54_999);
      let settled = false;
      void first.catch(() => (settled = true));
      await Promise.resolve();
      expect(settled).toBe(false);
      clock.advance(1);
      await expect(first).rejects.toMatchObject({ code: 'vault.locked', hint: 'A person opens it with: sallyport vault unlock' });
      expect(clock.pending()).toBe(0);
    });

    test('[VAULT-3] at most 64 wait; the next is told to come back', async () => {
      const { vault } = await lockedHouse();
      const signal = new AbortController().signal;
      const waiting = Array.from({ length: 64 }, () => vault.values(['a'], { signal }));
      await expect(vault.values(['a'], { signal })).rejects.toMatchObject({ code: 'vault.busy', kind: 'limited' });
      vault.close();
      for (const outcome of await Promise.allSettled(waiting)) expect(outcome.status).toBe('rejected');
    });

    test('[VAULT-8] what the machine keeps and cannot give is told, and the next place is tried', async () => {
      const { vault, keys } = await lockedHouse();
      await vault.slots.openByMachine();
      await vault.slots.add({ kind: 'keychain', label: '', params: '{}', secret: undefined }, operator);
      await vault.lock('local');
      keys.key_file.fail('The disk is gone.');
      keys.keychain.fail('The keychain did not answer.');
      expect(await vault.slots.openByMachine()).toBe(false);
      expect(vault.slots.failures()).toEqual([
        { kind: 'key_file', reason: 'The disk is gone.' },
        { kind: 'keychain', reason: 'The keychain did not answer.' },
      ]);
      keys.keychain.fail(undefined);
      expect(await vault.slots.openByMachine()).toBe(true);
      expect(vault.slots.failures()).toEqual([]);
    });
  });
});
