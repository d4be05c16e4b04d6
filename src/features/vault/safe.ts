// The vault in memory: its rows, and while it is open its key. Every change is one commit of rows and record; what stands in the database
// is held against the seal before anything is taken from it or built on it.
import type { Database } from '../../kernel/database.ts';
import type { Unsubscribe } from '../../kernel/ports.ts';
import { createTurns } from '../../lib/turns.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditEntry } from '../audit/model.ts';
import { headFits, sealHead } from './head.ts';
import { isStartKind, slotKinds, type SlotKind, type VaultState } from './model.ts';
import { absent, damaged, exists, locked, unknownSlot, weakSlot, wrongKey } from './refusals.ts';
import { readKdf } from './kdf.ts';
import { formatVersion, type HeadRow, type SlotRow, type VaultRows } from './rows.ts';
import type { VaultTools } from './sealing.ts';
import { openSlot } from './slot.ts';
import { readVault, replaceVault } from './store.ts';

/** The vault while it is open. The key belongs to the safe: nobody keeps or wipes it. */
export interface OpenVault {
  readonly rows: VaultRows;
  readonly key: Uint8Array;
}

/** What a change makes of the vault; the head's counter and seal are the safe's. A new key is taken over by the safe. */
export interface Changed {
  readonly rows: Omit<VaultRows, 'head'> & { readonly head: Omit<HeadRow, 'mac' | 'counter'> };
  readonly key?: Uint8Array;
  readonly entries: readonly AuditEntry[];
}

export interface Safe {
  state(): VaultState;
  /** As last read, also while it is locked; names and dates only may be taken from them then. */
  rows(): VaultRows | undefined;
  /** Throws `vault.absent`, `vault.locked` or `vault.damaged`. */
  opened(): OpenVault;
  /** Opens it with the secret of a slot, on the record. Throws `vault.wrong_key`, `vault.weak_slot`, `vault.damaged`, `vault.unknown_slot`. */
  open(slot: string, secret: Uint8Array): Promise<void>;
  /** Forgets the key. What was handed out stays with those it was handed to. */
  lock(actor: string): Promise<void>;
  /** The first rows. Throws `vault.exists`. */
  create(make: () => Changed & { readonly key: Uint8Array }): Promise<void>;
  /** One change after the other; `apply` may be called again and throws to refuse. */
  change(apply: (now: OpenVault) => Changed): Promise<void>;
  /** Calls back after it was opened. */
  onOpened(listener: () => void): Unsubscribe;
  /** Calls back when the key was forgotten: what was opened with it is to be forgotten as well. */
  onForgotten(listener: () => void): Unsubscribe;
  close(): void;
}

export interface SafeDeps {
  readonly db: Database;
  readonly audit: Audit;
  readonly tools: VaultTools;
}

export async function createSafe({ db, audit, tools }: SafeDeps): Promise<Safe> {
  let rows = await readVault(db.queries);
  let key: Uint8Array | undefined;
  let broken = rows !== undefined && rows.head.format !== formatVersion;
  /** Of the newest rows that were ever seen under their seal: older ones are no vault of ours any more. */
  let newest: Pick<HeadRow, 'vault_id' | 'counter'> | undefined;
  const listeners = { opened: new Set<() => void>(), forgotten: new Set<() => void>() };
  const takeTurn = createTurns();

  function forget(): void {
    key?.fill(0);
    key = undefined;
    tell('forgotten');
  }

  function breakDown(): never {
    forget();
    broken = true;
    audit.appendQuietly({ event: 'vault.damaged', actor: 'daemon' });
    throw damaged();
  }

  function opened(): OpenVault {
    if (broken) throw damaged();
    if (rows === undefined) throw absent();
    if (key === undefined) throw locked();
    return { rows, key };
  }

  /** The rows of the database are those in memory, as sealed: not edited, not an older copy. */
  function assertUnmoved(found: VaultRows | undefined, now: OpenVault): VaultRows {
    const same = found !== undefined && found.head.counter === now.rows.head.counter && headFits(tools, now.key, found);
    return same ? found : breakDown();
  }

  /** After a failed commit, which may have reached the database before it failed: what stands there is true, if it is one of the two. */
  async function settle(next: OpenVault | undefined): Promise<void> {
    let found: VaultRows | undefined;
    try {
      found = await readVault(db.queries);
    } catch (failure) {
      if (next !== undefined && next.key !== key) next.key.fill(0);
      forget();
      throw failure;
    }
    if (found !== undefined && next !== undefined && headFits(tools, next.key, found)) return adopt(next);
    if (next !== undefined && next.key !== key) next.key.fill(0);
    if (found === undefined && rows === undefined) return;
    if (key !== undefined && (found === undefined || !headFits(tools, key, found))) breakDown();
  }

  function adopt(next: OpenVault): void {
    if (next.key !== key) key?.fill(0);
    rows = next.rows;
    key = next.key;
    newest = rows.head;
  }

  function isOlder({ vault_id, counter }: HeadRow): boolean {
    return newest !== undefined && (vault_id !== newest.vault_id || counter < newest.counter);
  }

  async function commit(
    work: (found: VaultRows | undefined) => { next: OpenVault; entries: readonly AuditEntry[] },
  ): Promise<void> {
    const giveBack = await takeTurn();
    let next: OpenVault | undefined;
    try {
      await audit.commit(
        async (tx) => {
          const found = await readVault(tx);
          const made = work(found);
          next = made.next;
          await replaceVault(tx, found, next.rows);
          return { value: undefined, entries: made.entries };
        },
        { decision: true },
      );
      if (next !== undefined) adopt(next);
    } catch (thrown) {
      await settle(next);
      throw thrown;
    } finally {
      giveBack();
    }
  }

  function tell(what: keyof typeof listeners): void {
    for (const listener of listeners[what]) listener();
  }

  return {
    state: () => (broken ? 'damaged' : rows === undefined ? 'absent' : key === undefined ? 'locked' : 'open'),
    rows: () => rows,
    opened,

    async open(id, secret) {
      const giveBack = await takeTurn();
      try {
        const found = await readVault(db.queries);
        if (found === undefined) throw rows === undefined ? absent() : breakDown();
        const slot = found.slots.find((row) => row.id === id);
        if (slot === undefined) throw unknownSlot(id);
        const kind = kindOf(slot);
        const candidate = openSlot(tools, found.head, slot, secret);
        if (candidate === undefined) {
          audit.appendQuietly({ event: 'vault.refused', actor: isStartKind(kind) ? 'daemon' : 'local', facts: { slot: id, kind } });
          throw kind === 'passphrase' && readKdf(slot.params) === undefined ? weakSlot() : wrongKey(kind);
        }
        if (found.head.format !== formatVersion || !headFits(tools, candidate, found) || isOlder(found.head)) {
          candidate.fill(0);
          breakDown();
        }
        try {
          await audit.appendSynced({
            event: 'vault.opened',
            actor: isStartKind(kind) ? 'daemon' : 'local',
            facts: { slot: id, kind },
          });
        } catch (thrown) {
          candidate.fill(0);
          throw thrown;
        }
        broken = false;
        adopt({ rows: found, key: candidate });
      } finally {
        giveBack();
      }
      tell('opened');
    },

    async lock(actor) {
      const giveBack = await takeTurn();
      if (key !== undefined) audit.appendQuietly({ event: 'vault.locked', actor });
      forget();
      giveBack();
    },

    async create(make) {
      await commit((found) => {
        if (found !== undefined || rows !== undefined) throw exists();
        const { rows: made, key: newKey, entries } = make();
        return { next: { rows: sealHead(tools, newKey, { ...made, head: { ...made.head, counter: 1 } }), key: newKey }, entries };
      });
      tell('opened');
    },

    change: (apply) =>
      commit((found) => {
        const now = opened();
        const unmoved = assertUnmoved(found, now);
        const { rows: made, key: newKey = now.key, entries } = apply({ rows: unmoved, key: now.key });
        const counter = unmoved.head.counter + 1;
        return { next: { rows: sealHead(tools, newKey, { ...made, head: { ...made.head, counter } }), key: newKey }, entries };
      }),

    onOpened(listener) {
      listeners.opened.add(listener);
      return () => listeners.opened.delete(listener);
    },
    onForgotten(listener) {
      listeners.forgotten.add(listener);
      return () => listeners.forgotten.delete(listener);
    },
    close: forget,
  };
}

/** What no version writes is treated as a slot nobody of the machine may try. */
function kindOf({ kind }: SlotRow): SlotKind {
  return slotKinds.find((known) => known === kind) ?? 'recovery';
}
