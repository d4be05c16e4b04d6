// The face of the vault: what other slices may know and take of secrets. Values leave it for whoever injects or masks them, and for
// nobody else. That a value may go somewhere is decided by signed bindings, never here.
import type { Database } from '../../kernel/database.ts';
import type { Clock, Digest, Entropy, Log, StartKey, Unsubscribe, VaultCipher } from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import { createLogins, type Logins } from './logins.ts';
import type { RefFacts, Secret, StartKind, VaultState } from './model.ts';
import { absent, damaged, unknownRef } from './refusals.ts';
import { createSafe } from './safe.ts';
import { createSecrets, type Secrets } from './secrets.ts';
import { createSlots, type Slots } from './slots.ts';
import { createWaiting, type Patience } from './waiting.ts';

export type { Logins, Patience };

export interface Vault {
  state(): VaultState;
  /** Names in code-point order; also while the vault is locked. */
  refs(): readonly string[];
  known(ref: string): boolean;
  /**
   * A copy of each current value, in the order asked for; the caller wipes them. While the vault is locked it waits (waiting.ts).
   * Rejects with `vault.unknown_ref` and `vault.absent` at once, and with `vault.locked`, `vault.busy`, `vault.damaged`.
   */
  values(refs: readonly string[], patience: Patience): Promise<readonly Secret[]>;
  /**
   * What must not be seen in results of whoever was handed these: the current value and, for a day after a change or removal, the one
   * before. Copies; the caller wipes them, and keeps them for as long as it masks: a locked vault gives none. Throws `vault.locked`.
   */
  redactionValues(refs: readonly string[]): readonly Uint8Array[];
  /** Calls back, after the commit, when the value of a reference became another one or went away. */
  onChanged(listener: (ref: string) => void): Unsubscribe;
  /** Calls back each time the vault was opened. */
  onOpened(listener: () => void): Unsubscribe;
  /** Values of a namespace of their own, which the gateway renews without a person. */
  readonly logins: Logins;
}

/** What only this slice's own operations and the composition root may use; the gateway has checked who may. */
export interface VaultKeeping extends Vault {
  readonly secrets: Pick<Secrets, 'list' | 'add' | 'rotate' | 'remove'>;
  readonly slots: Slots;
  open(slot: string, secret: Uint8Array): Promise<void>;
  lock(actor: string): Promise<void>;
  /** Wakes whoever waits, and forgets the key. */
  close(): void;
}

export interface VaultDeps {
  readonly db: Database;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly digest: Digest;
  readonly cipher: VaultCipher;
  readonly startKeys: Readonly<Record<StartKind, StartKey>>;
  readonly log: Log;
}

/** The vault as it stands, closed; `slots.openByMachine` opens it where that is how it was set up. */
export async function createVault(deps: VaultDeps): Promise<VaultKeeping> {
  const { db, audit, clock, entropy, digest, cipher, startKeys, log } = deps;
  const tools = { cipher, entropy, digest };
  const safe = await createSafe({ db, audit, tools });
  const secrets = createSecrets({ safe, tools, namespace: 'gate', clock, log });
  const ofLogins = createSecrets({ safe, tools, namespace: 'logins', clock, log });
  const slots = createSlots({ safe, tools, startKeys, clock, log });
  const waiting = createWaiting(clock);
  safe.onOpened(() => waiting.wake());

  /** Rejects at once when no opening of the vault would help. */
  async function opened(find: () => string | undefined, patience: Patience): Promise<void> {
    if (safe.state() === 'damaged') throw damaged();
    if (safe.state() === 'absent') throw absent();
    const unknown = find();
    if (unknown !== undefined) throw unknownRef(unknown);
    if (safe.state() === 'locked') await waiting.forOpen(patience);
  }

  return {
    state: () => safe.state(),
    refs: () => secrets.list().map(({ ref }: RefFacts) => ref),
    known: (ref) => secrets.known(ref),
    async values(refs, patience) {
      await opened(() => refs.find((ref) => !secrets.known(ref)), patience);
      return secrets.values(refs);
    },
    redactionValues: (refs) => secrets.redactionValues(refs),
    onChanged: (listener) => secrets.onChanged(listener),
    onOpened: (listener) => safe.onOpened(listener),
    logins: createLogins(ofLogins, (ref, patience) => opened(() => (ofLogins.known(ref) ? undefined : ref), patience)),
    secrets,
    slots,
    open: (slot, secret) => safe.open(slot, secret),
    lock: (actor) => safe.lock(actor),
    close() {
      waiting.close();
      secrets.close();
      ofLogins.close();
      safe.close();
    },
  };
}
