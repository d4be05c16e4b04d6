// The vault slice over a real database and a list for the record, with start keys that a test holds in its hand. Values are texts here.
import { vaultMigrations } from '../../src/features/vault/store.ts';
import { createVault, type VaultDeps, type VaultKeeping } from '../../src/features/vault/vault.ts';
import type { NewSlot } from '../../src/features/vault/slots.ts';
import type { Decision, StartKind } from '../../src/features/vault/model.ts';
import { AppError } from '../../src/kernel/errors.ts';
import type { Database } from '../../src/kernel/database.ts';
import type { Entropy, StartKey } from '../../src/kernel/ports.ts';
import { createDigest, createEntropy } from '../../src/platform/crypto.ts';
import { createVaultCipher } from '../../src/platform/vault-cipher.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createPlainAudit, type PlainAudit } from './plain-audit.ts';
import { silentLog } from './silent-log.ts';

export const operator: Decision = { actor: 'operator', proof: { key_id: '0123456789abcdef', method: 'passphrase' } };

/** What a machine keeps, until a test takes it away. */
export interface HeldKey extends StartKey {
  readonly kept: Map<string, Uint8Array>;
  /** From now on asking it fails with these words. */
  fail(reason: string | undefined): void;
}

export function createHeldKey(): HeldKey {
  const kept = new Map<string, Uint8Array>();
  let failing: string | undefined;
  const assertThere = (): void => {
    if (failing !== undefined) throw new AppError('unavailable', 'vault.start_key', failing);
  };
  return {
    kept,
    fail: (reason) => (failing = reason),
    async read(name) {
      assertThere();
      return copied(kept.get(name));
    },
    async make(name) {
      assertThere();
      const secret = createEntropy().bytes(32);
      kept.set(name, new Uint8Array(secret));
      return secret;
    },
    async remove(name) {
      kept.delete(name);
    },
  };
}

const copied = (secret: Uint8Array | undefined): Uint8Array | undefined => secret && new Uint8Array(secret);

export interface VaultHouse {
  readonly db: Database;
  readonly audit: PlainAudit;
  readonly clock: FakeClock;
  readonly keys: Readonly<Record<StartKind, HeldKey>>;
  readonly vault: VaultKeeping;
  /** The slice as the next start finds it, nothing opened yet. */
  readonly restart: (change?: Partial<VaultDeps>) => Promise<VaultKeeping>;
}

export async function openVaultHouse(db: Database, change: Partial<VaultDeps> = {}): Promise<VaultHouse> {
  await db.migrate(vaultMigrations);
  const audit = createPlainAudit(db);
  const clock = createFakeClock();
  const keys = { key_file: createHeldKey(), systemd: createHeldKey(), keychain: createHeldKey() };
  const deps: VaultDeps = {
    db,
    audit,
    clock,
    entropy: createEntropy(),
    digest: createDigest(),
    cipher: createVaultCipher(),
    startKeys: keys,
    log: silentLog(),
    ...change,
  };
  const restart = (more: Partial<VaultDeps> = {}): Promise<VaultKeeping> => createVault({ ...deps, ...more });
  return { db, audit, clock, keys, vault: await restart(), restart };
}

export const keyFileSlot: NewSlot = { kind: 'key_file', label: '', params: '{}', secret: undefined };

/** Derived from nothing: the slice takes any 32 bytes, and Argon2id has its own tests. */
export function passphraseSlot(fill: number): NewSlot {
  const params = '{"kdf":"argon2id","memory_kib":65536,"parallelism":1,"passes":3,"salt":"AAAAAAAAAAAAAAAAAAAAAA"}';
  return { kind: 'passphrase', label: '', params, secret: new Uint8Array(32).fill(fill) };
}

export function recoverySlot(fill: number): NewSlot {
  return { kind: 'recovery', label: '', params: '{}', secret: new Uint8Array(28).fill(fill) };
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (value: Uint8Array): string => new TextDecoder().decode(value);

const signal = new AbortController().signal;

export async function valueOf(vault: VaultKeeping, ref: string): Promise<string> {
  const [secret] = await vault.values([ref], { signal });
  if (secret === undefined) throw new Error('no value');
  return text(secret.value);
}

/** Bytes that follow from a number alone, so that what is made of them is the same each time. */
export function countingEntropy(): Entropy {
  const digest = createDigest();
  let count = 0;
  const bytesOf = (length: number): Uint8Array => {
    const found: number[] = [];
    while (found.length < length) found.push(...digest.sha256(`entropy ${(count += 1)}`));
    return Uint8Array.from(found.slice(0, length));
  };
  return {
    bytes: bytesOf,
    uuid: () => `00000000-0000-4000-8000-${String((count += 1)).padStart(12, '0')}`,
  };
}
