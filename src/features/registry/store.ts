// Adopted catalogues, a row for each key. The only SQL of this slice.
import type { Migration, Queries, Transaction } from '../../kernel/database.ts';
import { registryTable } from './migrations/001-registry.ts';
import type { CatalogueFiles } from './model.ts';

export const registryMigrations: readonly Migration[] = [registryTable];

interface Row {
  readonly public_key: string;
  // PostgreSQL hands its 64-bit integers out as text.
  readonly version: number | string;
  readonly digest: string;
  readonly index_text: string;
  readonly signature: string;
  readonly manifests: string;
  readonly adopted_at: string;
  readonly proof: string;
}

interface Tables {
  readonly registry_catalogue: Row;
}

export interface Adopted {
  readonly version: number;
  readonly files: CatalogueFiles;
}

/** Unchecked. */
export async function readAdopted(queries: Queries<Tables>, publicKey: string): Promise<Adopted | undefined> {
  const row = await queries.selectFrom('registry_catalogue').selectAll().where('public_key', '=', publicKey).executeTakeFirst();
  if (row === undefined) return undefined;
  const { version, index_text: index, signature, manifests } = row;
  return { version: Number(version), files: { index, signature, manifests: JSON.parse(manifests) as Record<string, string> } };
}

export interface Adoption {
  readonly publicKey: string;
  readonly version: number;
  readonly digest: string;
  readonly files: CatalogueFiles;
  readonly adoptedAt: string;
  readonly proof: string;
}

/** False when one that is not older is there already. */
export async function writeAdopted(tx: Transaction<Tables>, adoption: Adoption): Promise<boolean> {
  const { publicKey, version, digest, files, adoptedAt, proof } = adoption;
  const row = {
    version,
    digest,
    index_text: files.index,
    signature: files.signature ?? '',
    manifests: JSON.stringify(files.manifests),
    adopted_at: adoptedAt,
    proof,
  };
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('registry_catalogue')
    .values({ public_key: publicKey, ...row })
    .onConflict((conflict) => conflict.column('public_key').doUpdateSet(row).where('registry_catalogue.version', '<', version))
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** From what upstreams are proposed by name, for the seal over rights: a version that was put back is noticed. */
export async function registryRights(queries: Queries<Tables>): Promise<readonly object[]> {
  return queries.selectFrom('registry_catalogue').select(['public_key', 'version', 'digest']).execute();
}
