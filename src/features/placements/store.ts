// The rows of this slice, the only SQL of it. Judges nothing.
import type { Migration, Queries, Transaction } from '../../kernel/database.ts';
import { placementTables } from './migrations/001-placements.ts';
import type { Placement } from './model.ts';

export const placementMigrations: readonly Migration[] = [placementTables];

interface PlacementRow {
  readonly out: string;
  readonly ref: string;
  readonly version: number;
  /** As JSON: PostgreSQL keeps no NUL in a text. */
  readonly template: string | null;
  readonly template_file: string | null;
  readonly digest: string;
  readonly salt: string;
  readonly placed_at: string;
}

interface Tables {
  readonly placements_destination: { readonly entry: string; readonly allowed_at: string };
  readonly placements_placement: PlacementRow;
}

/** In code-point order, whatever the database's collation. */
export async function readDestinations(queries: Queries<Tables> | Transaction<Tables>): Promise<string[]> {
  const rows = await queries.selectFrom('placements_destination').select('entry').execute();
  return rows.map(({ entry }) => entry).sort();
}

/** False when it is there already. */
export async function insertDestination(tx: Transaction<Tables>, entry: string, allowedAt: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('placements_destination')
    .values({ entry, allowed_at: allowedAt })
    .onConflict((conflict) => conflict.column('entry').doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** False when there is none. */
export async function deleteDestination(tx: Transaction<Tables>, entry: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('placements_destination').where('entry', '=', entry).executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}

export async function readPlacements(queries: Queries<Tables>): Promise<Placement[]> {
  const rows = await queries.selectFrom('placements_placement').selectAll().execute();
  return rows.map(toPlacement).sort((a, b) => (a.out < b.out ? -1 : 1));
}

export async function readPlacement(queries: Queries<Tables>, out: string): Promise<Placement | undefined> {
  const row = await queries.selectFrom('placements_placement').selectAll().where('out', '=', out).executeTakeFirst();
  return row && toPlacement(row);
}

export async function putPlacement(tx: Transaction<Tables>, placement: Placement): Promise<void> {
  const { out, ref, version, template, templateFile, digest, salt, placedAt } = placement;
  await tx.deleteFrom('placements_placement').where('out', '=', out).execute();
  await tx
    .insertInto('placements_placement')
    .values({
      out,
      ref,
      version,
      template: template === undefined ? null : JSON.stringify(template),
      template_file: templateFile ?? null,
      digest,
      salt,
      placed_at: placedAt,
    })
    .execute();
}

/** Where secrets may go, for the seal over rights. */
export async function placementRights(queries: Queries<Tables>): Promise<readonly object[]> {
  return queries.selectFrom('placements_destination').select(['entry']).execute();
}

function toPlacement(row: PlacementRow): Placement {
  return {
    out: row.out,
    ref: row.ref,
    version: row.version,
    template: row.template === null ? undefined : (JSON.parse(row.template) as string),
    templateFile: row.template_file ?? undefined,
    digest: row.digest,
    salt: row.salt,
    placedAt: row.placed_at,
  };
}
