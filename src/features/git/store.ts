// The rows of this slice, the only SQL of it. Judges nothing.
import type { Migration, Queries, Transaction } from '../../kernel/database.ts';
import { gitTables } from './migrations/001-entries.ts';
import { entryName, type GitAccess, type GitEntry } from './model.ts';

export const gitMigrations: readonly Migration[] = [gitTables];

interface EntryRow {
  readonly host: string;
  readonly owner: string;
  readonly access: string;
  readonly secret_ref: string;
  readonly app_id: string;
  readonly installation_id: string;
  readonly api_url: string | null;
  readonly allowed_at: string;
}

interface Tables {
  readonly git_entry: EntryRow;
}

/** In code-point order of their names, whatever the database's collation. */
export async function readEntries(queries: Queries<Tables> | Transaction<Tables>): Promise<GitEntry[]> {
  const rows = await queries.selectFrom('git_entry').selectAll().execute();
  return rows.map(toEntry).sort((a, b) => (entryName(a) < entryName(b) ? -1 : 1));
}

/** False when there is one of that host and owner already. */
export async function insertEntry(
  tx: Transaction<Tables>,
  { host, owner, access, app }: GitEntry,
  allowedAt: string,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('git_entry')
    .values({
      host,
      owner,
      access,
      secret_ref: app.secretRef,
      app_id: app.appId,
      installation_id: app.installationId,
      api_url: app.apiUrl ?? null,
      allowed_at: allowedAt,
    })
    .onConflict((conflict) => conflict.columns(['host', 'owner']).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** False when there is none. */
export async function deleteEntry(tx: Transaction<Tables>, { host, owner }: Pick<GitEntry, 'host' | 'owner'>): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('git_entry')
    .where('host', '=', host)
    .where('owner', '=', owner)
    .executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}

/** Who is given what, for the seal over rights. */
export async function gitRights(queries: Queries<Tables>): Promise<readonly object[]> {
  return queries
    .selectFrom('git_entry')
    .select(['host', 'owner', 'access', 'secret_ref', 'app_id', 'installation_id', 'api_url'])
    .execute();
}

function toEntry(row: EntryRow): GitEntry {
  const { host, owner, access, secret_ref: secretRef, app_id: appId, installation_id: installationId, api_url: apiUrl } = row;
  const app = { secretRef, appId, installationId, ...(apiUrl === null ? {} : { apiUrl }) };
  return { host, owner, access: access as GitAccess, app };
}
