// The ways to open the vault, and its key: made, added, taken away, replaced. Secrets of the machine are fetched here; secrets of people
// come in already derived.
import type { Clock, Log, StartKey } from '../../kernel/ports.ts';
import type { AuditEntry } from '../audit/model.ts';
import { rewrapValue } from './entry.ts';
import { isStartKind, mostSlots, startKinds, type Decision, type SlotFacts, type SlotKind, type StartKind } from './model.ts';
import { damaged, lastSlot, noStartKey, slotExists, tooManySlots, unknownSlot } from './refusals.ts';
import { formatVersion, type SlotRow, type VaultRows } from './rows.ts';
import type { Changed, OpenVault, Safe } from './safe.ts';
import type { VaultTools } from './sealing.ts';
import { newSlot, resealSlot, type SlotPlan } from './slot.ts';

/** A slot to be made. `secret`: of a passphrase or a recovery code; those of the machine are made or fetched when they are needed. */
export interface NewSlot {
  readonly kind: SlotKind;
  readonly label: string;
  readonly params: string;
  readonly secret: Uint8Array | undefined;
}

/** A place of the machine that did not open the vault, in words. */
export interface StartFailure {
  readonly kind: StartKind;
  readonly reason: string;
}

export interface Slots {
  list(): readonly SlotFacts[];
  /** Throws `vault.unknown_slot`. */
  slot(id: string): SlotFacts;
  create(slots: readonly NewSlot[], by: Decision): Promise<void>;
  /** A new recovery code takes the place of the old one. Throws `vault.slot_exists`, `vault.too_many`, `vault.start_key`. */
  add(slot: NewSlot, by: Decision): Promise<SlotFacts>;
  /** Also makes a new vault key: whoever knew the slot's secret may have kept the old one. Throws `vault.last_slot`. */
  remove(id: string, by: Decision): Promise<void>;
  rotateKey(by: Decision): Promise<void>;
  /** Opens with the recovery code and puts a new one in its place. */
  recover(id: string, secret: Uint8Array, fresh: NewSlot, by: Decision): Promise<void>;
  /** Tries what the machine keeps, in turn; true once it is open. */
  openByMachine(kinds?: readonly StartKind[]): Promise<boolean>;
  /** Why it did not, the last time it was tried. */
  failures(): readonly StartFailure[];
}

export interface SlotsDeps {
  readonly safe: Safe;
  readonly tools: VaultTools;
  readonly startKeys: Readonly<Record<StartKind, StartKey>>;
  readonly clock: Clock;
  readonly log: Log;
}

export function createSlots({ safe, tools, startKeys, clock, log }: SlotsDeps): Slots {
  const failures = new Map<StartKind, string>();

  const factsOf = ({ id, kind, label, created_at: createdAt, params }: SlotRow): SlotFacts => ({
    id,
    kind: kind as SlotKind,
    label,
    createdAt,
    params,
  });

  function plan({ kind, label, params }: NewSlot): SlotPlan {
    return { id: tools.entropy.uuid(), kind, label, created_at: new Date(clock.now()).toISOString(), params };
  }

  /** The secret of a slot to be made: what a person brought, or what the machine keeps from now on, under the id of the slot. */
  async function secretFor({ kind, secret }: NewSlot, id: string): Promise<Uint8Array> {
    if (isStartKind(kind)) return startKeys[kind].make(id);
    if (secret === undefined) throw new RangeError(`a ${kind} slot needs its secret`);
    return secret;
  }

  async function prepared(slots: readonly NewSlot[]): Promise<readonly { plan: SlotPlan; secret: Uint8Array }[]> {
    const made: { plan: SlotPlan; secret: Uint8Array }[] = [];
    for (const slot of slots) {
      const planned = plan(slot);
      made.push({ plan: planned, secret: await secretFor(slot, planned.id) });
    }
    return made;
  }

  /** Everything under a new vault key; the values stay as they are sealed. */
  function rekeyed({ rows, key }: OpenVault, slots: readonly SlotRow[]): { rows: VaultRows; key: Uint8Array } {
    const next = { key: tools.entropy.bytes(32), vault: { ...rows.head, generation: rows.head.generation + 1 } };
    const entries = rows.entries.map((entry) => {
      const row = rewrapValue(tools, { key, vault: rows.head }, next, entry);
      if (row === undefined) throw damaged();
      return row;
    });
    return {
      rows: { head: next.vault, entries, slots: slots.map((slot) => resealSlot(tools, next.vault, slot, next.key)) },
      key: next.key,
    };
  }

  /**
   * The machine's secret of a slot that is not, or no longer, there. Unless the slot stands after all, as a commit may have failed late, or
   * nobody can tell.
   */
  async function discard(kind: SlotKind, id: string): Promise<void> {
    if (!isStartKind(kind) || safe.state() !== 'open') return;
    if (safe.rows()?.slots.some((row) => row.id === id || sharesSecret(row.kind, kind)) === true) return;
    await startKeys[kind].remove(id).catch((thrown: unknown) => {
      log.warn('the secret of a slot that is gone could not be removed', { kind, cause: String(thrown) });
    });
  }

  function entryOf(event: AuditEntry['event'], slot: Pick<SlotRow, 'id' | 'kind'> | undefined, by: Decision): AuditEntry {
    const facts = { ...(slot && { slot: slot.id, kind: slot.kind }), ...(by.proof && { proof: by.proof }) };
    return { event, actor: by.actor, facts };
  }

  function slotOf(rows: VaultRows | undefined, id: string): SlotRow {
    const slot = rows?.slots.find((row) => row.id === id);
    if (slot === undefined) throw unknownSlot(id);
    return slot;
  }

  async function openWith(kind: StartKind, id: string): Promise<void> {
    const secret = await startKeys[kind].read(id);
    if (secret === undefined) throw noStartKey(kind);
    try {
      await safe.open(id, secret);
    } finally {
      secret.fill(0);
    }
  }

  return {
    list: () => (safe.rows()?.slots ?? []).map(factsOf).toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1)),
    slot: (id) => factsOf(slotOf(safe.rows(), id)),

    async create(slots, by) {
      if (slots.length === 0) throw new RangeError('a vault without a slot could never be opened again');
      const made = await prepared(slots);
      try {
        await safe.create(() => {
          const head = {
            format: formatVersion,
            vault_id: tools.entropy.uuid(),
            generation: 1,
            created_at: new Date(clock.now()).toISOString(),
          };
          const key = tools.entropy.bytes(32);
          const slotRows = made.map((slot) => newSlot(tools, head, slot.plan, slot.secret, key));
          const first = entryOf('vault.created', undefined, by);
          const facts = { ...first.facts, vault: head.vault_id, slots: slotRows.map(({ id, kind }) => ({ slot: id, kind })) };
          return { rows: { head, slots: slotRows, entries: [] }, key, entries: [{ ...first, facts }] };
        });
      } finally {
        for (const { secret } of made) secret.fill(0);
      }
    },

    async add(slot, by) {
      assertRoom(safe.opened().rows, slot.kind);
      const planned = plan(slot);
      const secret = await secretFor(slot, planned.id);
      try {
        await safe.change((now): Changed => {
          assertRoom(now.rows, slot.kind);
          const others = now.rows.slots.filter(({ kind }) => slot.kind !== 'recovery' || kind !== 'recovery');
          // Whoever had the old code may have kept the key that it opened.
          const { rows, key } = others.length < now.rows.slots.length ? rekeyed(now, others) : now;
          const row = newSlot(tools, rows.head, planned, secret, key);
          return { rows: { ...rows, slots: [...rows.slots, row] }, key, entries: [entryOf('vault.slot_added', row, by)] };
        });
      } catch (thrown) {
        await discard(slot.kind, planned.id);
        throw thrown;
      } finally {
        secret.fill(0);
      }
      return factsOf(slotOf(safe.rows(), planned.id));
    },

    async remove(id, by) {
      const kind = slotOf(safe.opened().rows, id).kind as SlotKind;
      await safe.change((now): Changed => {
        const slot = slotOf(now.rows, id);
        const others = now.rows.slots.filter((row) => row !== slot);
        assertStillOpens(slot, others);
        return { ...rekeyed(now, others), entries: [entryOf('vault.slot_removed', slot, by)] };
      });
      await discard(kind, id);
    },

    rotateKey: (by) =>
      safe.change((now): Changed => ({ ...rekeyed(now, now.rows.slots), entries: [entryOf('vault.key_rotated', undefined, by)] })),

    async recover(id, secret, fresh, by) {
      if (slotOf(safe.rows(), id).kind !== 'recovery') throw unknownSlot(id);
      // Also when it is open: only the right code may be replaced this way.
      await safe.open(id, secret);
      await safe.change((now): Changed => {
        const used = slotOf(now.rows, id);
        const { rows, key } = rekeyed(
          now,
          now.rows.slots.filter((row) => row !== used),
        );
        const row = newSlot(tools, rows.head, plan(fresh), fresh.secret ?? new Uint8Array(), key);
        return { rows: { ...rows, slots: [...rows.slots, row] }, key, entries: [entryOf('vault.recovered', row, by)] };
      });
    },

    async openByMachine(kinds = startKinds) {
      for (const kind of kinds) {
        const slot = safe.rows()?.slots.find((row) => row.kind === kind);
        if (slot === undefined || safe.state() === 'open') continue;
        try {
          await openWith(kind, slot.id);
          failures.clear();
        } catch (thrown) {
          const reason = thrown instanceof Error ? thrown.message : String(thrown);
          failures.set(kind, reason);
          log.warn('a slot did not open the vault', { kind, reason });
        }
      }
      return safe.state() === 'open';
    },
    failures: () => [...failures].map(([kind, reason]) => ({ kind, reason })),
  };
}

/** There is one key file for whatever slot is of that kind: also for one that was made at the same time as one that was refused. */
function sharesSecret(kind: string, other: StartKind): boolean {
  return kind === 'key_file' && kind === other;
}

function assertRoom({ slots }: VaultRows, kind: SlotKind): void {
  if (isStartKind(kind) && slots.some((slot) => slot.kind === kind)) throw slotExists(kind);
  if (slots.length >= mostSlots) throw tooManySlots();
}

/** A vault that nothing opens is lost; one that a person could open and then only the machine can is lost with the machine. */
function assertStillOpens(gone: SlotRow, others: readonly SlotRow[]): void {
  if (others.length === 0) throw lastSlot('This is the last slot of the vault: without it nothing would open it again.');
  const byPerson = (slot: SlotRow): boolean => !isStartKind(slot.kind as SlotKind);
  if (byPerson(gone) && !others.some(byPerson)) {
    throw lastSlot('This is the last slot that a person can open; with it gone, a lost machine is a lost vault.');
  }
}
