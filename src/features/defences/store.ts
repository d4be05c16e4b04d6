// The rows of this slice, the only SQL of it. Judges nothing and opens no seal.
import type { Migration, Queries, Transaction } from '../../kernel/database.ts';
import { defenceTables } from './migrations/001-defences.ts';

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

/** Taking out a decoy or loosening a mode gives an agent more, for the seal over rights. */
export async function defenceRights(queries: Queries<Tables>): Promise<readonly object[]> {
  return [
    ...(await queries.selectFrom('defences_decoy').selectAll().execute()),
    ...(await queries.selectFrom('defences_setting').selectAll().execute()),
  ];
}
