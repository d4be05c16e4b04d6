// The rows of the vault. The only SQL of this slice; knows no key and opens nothing.
import type { Migration, Queries, Transaction } from '../../kernel/database.ts';
import { vaultTables } from './migrations/001-vault.ts';
import type { EntryRow, HeadRow, SlotRow, VaultRows } from './rows.ts';

export const vaultMigrations: readonly Migration[] = [vaultTables];

const singleton = 1;

interface Tables {
  readonly vault_head: HeadRow & { readonly singleton: number };
  readonly vault_slot: SlotRow;
  readonly vault_entry: EntryRow;
}

/** The rows as they stand; `undefined` while there is no vault. */
export async function readVault(queries: Queries<Tables> | Transaction<Tables>): Promise<VaultRows | undefined> {
  const head = await queries
    .selectFrom('vault_head')
    .select(['format', 'vault_id', 'generation', 'counter', 'created_at', 'mac'])
    .executeTakeFirst();
  if (head === undefined) return undefined;
  const slots = await queries.selectFrom('vault_slot').selectAll().execute();
  const entries = await queries.selectFrom('vault_entry').selectAll().execute();
  return { head, slots, entries };
}

/** Which values and slots there are, for the seal over rights: the head covers all other rows. */
export async function vaultRights(queries: Queries<Tables>): Promise<readonly object[]> {
  return queries.selectFrom('vault_head').select(['vault_id', 'generation', 'counter', 'mac']).execute();
}

/** Makes of `before`, which was read in this transaction, `after`. Rows that both have as the same object are left alone. */
export async function replaceVault(tx: Transaction<Tables>, before: VaultRows | undefined, after: VaultRows): Promise<void> {
  const [kept, keptEntries] = [new Set(after.slots), new Set(after.entries)];
  for (const slot of before?.slots ?? []) {
    if (!kept.has(slot)) await tx.deleteFrom('vault_slot').where('id', '=', slot.id).execute();
  }
  for (const { namespace, name, version } of (before?.entries ?? []).filter((entry) => !keptEntries.has(entry))) {
    await tx
      .deleteFrom('vault_entry')
      .where('namespace', '=', namespace)
      .where('name', '=', name)
      .where('version', '=', version)
      .execute();
  }
  const had = new Set<object>([...(before?.slots ?? []), ...(before?.entries ?? [])]);
  for (const slot of after.slots.filter((row) => !had.has(row))) await tx.insertInto('vault_slot').values(slot).execute();
  for (const entry of after.entries.filter((row) => !had.has(row))) await tx.insertInto('vault_entry').values(entry).execute();
  await tx.deleteFrom('vault_head').execute();
  await tx
    .insertInto('vault_head')
    .values({ singleton, ...after.head })
    .execute();
}
