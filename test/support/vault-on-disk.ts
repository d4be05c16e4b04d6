// A vault in a folder that outlives its process, opened by its key file; without a record.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createVault, type VaultKeeping } from '../../src/features/vault/vault.ts';
import { vaultMigrations } from '../../src/features/vault/store.ts';
import { createClock } from '../../src/platform/clock.ts';
import { createDigest, createEntropy } from '../../src/platform/crypto.ts';
import { openDatabase } from '../../src/platform/database.ts';
import { createFiles } from '../../src/platform/files.ts';
import { createSystemdCredential } from '../../src/platform/systemd-credential.ts';
import { createVaultCipher } from '../../src/platform/vault-cipher.ts';
import { createVaultKeyFile } from '../../src/platform/vault-key-file.ts';
import { createPlainAudit } from './plain-audit.ts';
import { silentLog } from './silent-log.ts';
import { keyFileSlot, operator } from './vault-house.ts';

export interface VaultOnDisk {
  readonly vault: VaultKeeping;
  close(): Promise<void>;
}

/** The first time it is made. */
export async function openVaultOnDisk(folder: string, url: string): Promise<VaultOnDisk> {
  mkdirSync(folder, { recursive: true });
  const db = await openDatabase(url);
  await db.migrate(vaultMigrations);
  const none = createSystemdCredential(undefined);
  const vault = await createVault({
    db,
    audit: createPlainAudit(db),
    clock: createClock(),
    entropy: createEntropy(),
    digest: createDigest(),
    cipher: createVaultCipher(),
    startKeys: { key_file: createVaultKeyFile(createFiles(), join(folder, 'vault.key')), systemd: none, keychain: none },
    log: silentLog(),
  });
  if (vault.state() === 'absent') await vault.slots.create([keyFileSlot], operator);
  else await vault.slots.openByMachine();
  return {
    vault,
    async close() {
      vault.close();
      await db.close();
    },
  };
}
