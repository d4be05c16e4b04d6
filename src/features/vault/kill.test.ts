// kill -9 of a process that changes its vault without pause, at moments drawn anew each time: what was acknowledged is there, what was
// under way is there or is not, the vault opens, and record and rows agree.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createAuditHome, silentLog } from '../../../test/support/audit-home.ts';
import { describeDatabases, type TestDatabase } from '../../../test/support/databases.ts';
import { valueOf } from '../../../test/support/vault-house.ts';
import { createClock } from '../../platform/clock.ts';
import { createDigest, createEntropy } from '../../platform/crypto.ts';
import { createFiles } from '../../platform/files.ts';
import { createSystemdCredential } from '../../platform/systemd-credential.ts';
import { createVaultCipher } from '../../platform/vault-cipher.ts';
import { createVaultKeyFile } from '../../platform/vault-key-file.ts';
import type { AuditEvent, AuditRecord } from '../audit/model.ts';
import { vaultMigrations, vaultRights } from './store.ts';
import { createVault } from './vault.ts';

const writer = fileURLToPath(new URL('../../../test/fixtures/vault-writer.ts', import.meta.url));
const rounds = 6;

/** What should be there, from what a process said: references with the number of their value, and the change nobody heard the end of. */
interface Said {
  readonly values: Map<string, string>;
  pending: string | undefined;
}

function take(said: Said, lines: readonly string[]): void {
  for (const line of lines) {
    const [verb = '', ...words] = line.split(' ');
    if (verb === 'try') said.pending = words.join(' ');
    if (verb !== 'did') continue;
    said.pending = undefined;
    const [what, ref = '', n = ''] = words;
    if (what === 'add' || what === 'rotate') said.values.set(ref, `value-${n}`);
    if (what === 'remove') said.values.delete(ref);
  }
}

describeDatabases('[STORE-1] a vault whose process is killed', (open) => {
  test('[VAULT-5] loses nothing that was acknowledged, is in the old or the new state, and opens', async () => {
    const db = await open();
    const home = await createAuditHome(db, vaultMigrations);
    const said: Said = { values: new Map(), pending: undefined };
    let seen = 0;
    for (let round = 0; round < rounds; round += 1) {
      const child = spawn(process.execPath, [writer, home.folder, db.url, String((round + 1) * 1_000)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      const exited = once(child, 'close');
      // The very first rounds are killed while the vault is made or opened, the others in the middle of a change.
      const changes = round > 1 ? 2 + Math.floor(Math.random() * 6) : 0;
      while (child.exitCode === null && text.split('did ').length - 1 < changes) await sleep(2);
      await sleep(round > 1 ? Math.random() * 30 : 250 + Math.random() * 400);
      child.kill('SIGKILL');
      await exited;
      // A line without its end was told to nobody.
      const lines = text.split('\n').slice(0, -1);
      seen += lines.filter((line) => line.startsWith('did ')).length;
      take(said, lines);
      await inspect(round, said);
    }
    expect(seen).toBeGreaterThan(rounds);

    async function inspect(round: number, { values, pending }: Said): Promise<void> {
      const lock = await lockWhenFree(db);
      const audit = await home.start({ rights: async (queries) => [await vaultRights(queries)] });
      const key_file = createVaultKeyFile(createFiles(), join(home.folder, 'vault.key'));
      const vault = await createVault({
        db,
        audit,
        clock: createClock(),
        entropy: createEntropy(),
        digest: createDigest(),
        cipher: createVaultCipher(),
        startKeys: { key_file, systemd: createSystemdCredential(undefined), keychain: createSystemdCredential(undefined) },
        log: silentLog,
      });
      const opened = await vault.slots.openByMachine();
      const [verb, ref = '', n = ''] = (pending ?? '').split(' ');
      expect([round, opened || (vault.state() === 'absent' && values.size === 0)]).toEqual([round, true]);
      const found = new Map<string, string>();
      if (opened) for (const name of vault.refs()) found.set(name, await valueOf(vault, name));
      const after = new Map(values);
      if (verb === 'add' || verb === 'rotate') after.set(ref, `value-${n}`);
      if (verb === 'remove') after.delete(ref);
      expect([linesOf(values), linesOf(after)]).toContainEqual(linesOf(found));
      // What stands there now is what the next round starts from.
      values.clear();
      for (const [name, value] of found) values.set(name, value);
      said.pending = undefined;

      const records = await home.records();
      const removed = new Set(refsOf(records, 'secret.removed'));
      expect(refsOf(records, 'secret.added').filter((name) => !removed.has(name))).toEqual([...found.keys()].toSorted(byText));
      vault.close();
      await audit.close();
      await lock.release();
    }
  }, 60_000);
});

const byText = (a: string, b: string): number => (a < b ? -1 : 1);

function linesOf(values: ReadonlyMap<string, string>): string[] {
  return [...values].map(([ref, value]) => `${ref}=${value}`).toSorted(byText);
}

function refsOf(records: readonly AuditRecord[], event: AuditEvent): string[] {
  const refs = records.filter((record) => record.event === event).map(({ facts }) => facts?.['ref']);
  return refs.filter((ref) => typeof ref === 'string').toSorted(byText);
}

/** A server may still be finishing for a client that is dead; only then does it give up the lock. */
async function lockWhenFree(db: TestDatabase): ReturnType<TestDatabase['lock']> {
  for (;;) {
    try {
      return await db.lock(() => undefined);
    } catch (thrown) {
      if ((thrown as { code?: string }).code !== 'platform.locked') throw thrown;
      await sleep(10);
    }
  }
}
