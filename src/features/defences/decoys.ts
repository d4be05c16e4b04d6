// The decoys that are laid out: planted and taken in by the operator, looked for in whatever an agent sends. Where the rows cannot be read
// nothing passes (DESIGN invariant 9). Suspends nobody itself.
import type { Database, Transaction } from '../../kernel/database.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/json.ts';
import type { Entropy } from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditEntry } from '../audit/model.ts';
import type { Decision } from '../vault/model.ts';
import type { DecoySeal } from './decoy-seal.ts';
import { createDecoySearch, type DecoySearch } from './decoy-search.ts';
import { mostDecoys, type Decoy } from './model.ts';
import { deleteDecoys, insertDecoy, readDecoys, type DecoyRow } from './store.ts';

export interface Decoys {
  /** False while there are none: then nothing needs to be looked at. */
  readonly armed: boolean;
  /** Throws `defences.locked` (kind unavailable). */
  assertReadable(): void;
  has(ref: string): boolean;
  /** The decoy that is named or whose value is carried; names count only where secrets are meant by them. Throws `defences.locked`. */
  foundIn(value: Json, names: boolean): { readonly ref: string; readonly vector: 'mention' | 'arguments' } | undefined;
}

/** For the operator's operations; the gateway has checked who may. */
export interface DecoyKeeping extends Decoys {
  list(): readonly Decoy[];
  plant(decoy: Decoy, by: Decision): Promise<void>;
  takeIn(ref: string, by: Decision): Promise<void>;
  /** Takes out every row that cannot be read; how many. */
  discardUnreadable(by: Decision): Promise<number>;
}

export interface DecoyDeps {
  readonly db: Database;
  readonly audit: Audit;
  readonly entropy: Entropy;
  readonly seal: DecoySeal;
  /** Is this the name of a secret in the vault, real or not? */
  readonly known: (ref: string) => boolean;
}

export async function createDecoys({ db, audit, entropy, seal, known }: DecoyDeps): Promise<DecoyKeeping> {
  let laidOut: ReadonlyMap<string, { readonly id: string; readonly decoy: Decoy }> = new Map();
  let unreadable: readonly string[] = [];
  let search: DecoySearch | undefined;

  function take(rows: readonly DecoyRow[]): void {
    const opened = rows.map((row) => ({ id: row.id, decoy: openOr(row) }));
    unreadable = opened.flatMap(({ id, decoy }) => (decoy === undefined ? [id] : []));
    laidOut = new Map(opened.flatMap(({ id, decoy }) => (decoy === undefined ? [] : [[decoy.ref, { id, decoy }] as const])));
    const decoys = [...laidOut.values()].map(({ decoy }) => decoy);
    search = decoys.length === 0 ? undefined : createDecoySearch(decoys, (ref) => known(ref) && !laidOut.has(ref));
  }

  function openOr(row: DecoyRow): Decoy | undefined {
    try {
      return seal.open(row);
    } catch {
      return undefined;
    }
  }

  async function change(entry: AuditEntry, apply: (tx: Transaction) => Promise<void>): Promise<void> {
    try {
      await audit.commit(
        async (tx) => {
          await apply(tx);
          return { value: undefined, entries: [entry] };
        },
        { decision: true },
      );
    } finally {
      // Also when the commit failed: it may have reached the database before it did.
      take(await readDecoys(db.queries));
    }
  }

  /** Which one it is stays out of the record: whoever reads it must not learn what to keep away from. */
  function entryOf(event: AuditEntry['event'], { actor, proof }: Decision, ref: string): AuditEntry {
    return { event, actor, ...(proof && { facts: { proof } }), sealed: { ref } };
  }

  function assertReadable(): void {
    if (unreadable.length === 0) return;
    throw new AppError('unavailable', 'defences.locked', 'What is stored about honeytokens cannot be read; nothing passes.', {
      hint: 'Ask the human to restore keys/decoys.key and the database, or to run: sallyport honeytoken discard',
    });
  }

  take(await readDecoys(db.queries));

  return {
    get armed() {
      return search !== undefined || unreadable.length > 0;
    },
    assertReadable,
    has: (ref) => laidOut.has(ref),
    foundIn(value, names) {
      assertReadable();
      const carried = search?.valueIn(value);
      if (carried !== undefined) return { ref: carried, vector: 'arguments' };
      const named = names ? search?.nameIn(value) : undefined;
      return named === undefined ? undefined : { ref: named, vector: 'mention' };
    },

    list() {
      assertReadable();
      return [...laidOut.values()].map(({ decoy }) => decoy).sort((a, b) => (a.ref < b.ref ? -1 : 1));
    },

    plant: (decoy, by) =>
      change(entryOf('honeytoken.planted', by, decoy.ref), async (tx) => {
        assertReadable();
        if (laidOut.size >= mostDecoys) throw tooMany();
        await insertDecoy(tx, seal.close(decoy, entropy.uuid()));
      }),

    async takeIn(ref, by) {
      const found = laidOut.get(ref);
      if (found === undefined) throw unknownDecoy(ref);
      await change(entryOf('honeytoken.removed', by, ref), (tx) => deleteDecoys(tx, [found.id]));
    },

    async discardUnreadable(by) {
      const ids = unreadable;
      if (ids.length > 0) await change(entryOf('honeytoken.removed', by, ids.join(' ')), (tx) => deleteDecoys(tx, ids));
      return ids.length;
    },
  };
}

export function unknownDecoy(ref: string): AppError {
  return new AppError('not_found', 'defences.unknown_decoy', `'${ref}' is no honeytoken.`, {
    hint: 'See: sallyport honeytoken ls',
  });
}

function tooMany(): AppError {
  return new AppError('limited', 'defences.too_many', `There are ${mostDecoys} honeytokens already.`, {
    hint: 'Take one in with: sallyport honeytoken rm NAME',
  });
}
