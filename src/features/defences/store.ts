// The rows of this slice, the only SQL of it. Judges nothing and opens no seal.
import type { Migration, Queries, Transaction } from '../../kernel/database.ts';
import { defenceTables } from './migrations/001-defences.ts';
import type { TaintMark } from './model.ts';

export const defenceMigrations: readonly Migration[] = [defenceTables];

export interface DecoyRow {
  readonly id: string;
  readonly sealed: string;
}

/** `mode:<defence>` or `effect:<capability>`. */
export interface SettingRow {
  readonly name: string;
  readonly value: string;
}

interface Tables {
  readonly defences_decoy: DecoyRow;
  readonly defences_setting: SettingRow;
  // PostgreSQL hands its 64-bit integers out as text.
  readonly defences_taint: Omit<TaintMark, 'until'> & { readonly until: number | string };
}

export async function readDecoys(queries: Queries<Tables>): Promise<readonly DecoyRow[]> {
  return queries.selectFrom('defences_decoy').selectAll().execute();
}

export async function insertDecoy(tx: Transaction<Tables>, row: DecoyRow): Promise<void> {
  await tx.insertInto('defences_decoy').values(row).execute();
}

export async function deleteDecoys(tx: Transaction<Tables>, ids: readonly string[]): Promise<void> {
  for (const id of ids) await tx.deleteFrom('defences_decoy').where('id', '=', id).execute();
}

export async function readSettings(queries: Queries<Tables>): Promise<readonly SettingRow[]> {
  return queries.selectFrom('defences_setting').selectAll().execute();
}

/** `undefined` takes the row out. */
export async function putSetting(tx: Transaction<Tables>, name: string, value: string | undefined): Promise<void> {
  await tx.deleteFrom('defences_setting').where('name', '=', name).execute();
  if (value !== undefined) await tx.insertInto('defences_setting').values({ name, value }).execute();
}

export async function readTaint(queries: Queries<Tables>): Promise<readonly TaintMark[]> {
  const rows = await queries.selectFrom('defences_taint').selectAll().execute();
  return rows.map((row) => ({ ...row, until: Number(row.until) }));
}

/** Those that are over go with it. */
export async function putTaint(tx: Transaction<Tables>, mark: TaintMark, now: number): Promise<void> {
  await tx.deleteFrom('defences_taint').where('until', '<=', now).execute();
  await tx.deleteFrom('defences_taint').where('agent', '=', mark.agent).where('upstream', '=', mark.upstream).execute();
  await tx.insertInto('defences_taint').values(mark).execute();
}

export async function deleteTaint(tx: Transaction<Tables>, agent: string): Promise<void> {
  await tx.deleteFrom('defences_taint').where('agent', '=', agent).execute();
}

/** Taking out a decoy or loosening a mode gives an agent more, for the seal over rights. */
export async function defenceRights(queries: Queries<Tables>): Promise<readonly object[]> {
  return [
    ...(await queries.selectFrom('defences_decoy').selectAll().execute()),
    ...(await queries.selectFrom('defences_setting').selectAll().execute()),
  ];
}
