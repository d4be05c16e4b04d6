// The fleet's rows. The only SQL of this slice; every write is given the transaction it belongs to.
import type { Migration, Queries, Transaction } from '../../kernel/database.ts';
import type { Definition } from './definition.ts';
import { fleetTables } from './migrations/001-fleet.ts';
import type { Pin } from './pins.ts';

export const fleetMigrations: readonly Migration[] = [fleetTables];

export interface Acceptance {
  readonly upstream: string;
  readonly specDigest: string;
  /** The file its command meant when it was accepted; absent = there was none. */
  readonly program: string | undefined;
}

/** What pins belong to. */
export interface PinKey {
  readonly upstream: string;
  readonly specDigest: string;
}

export interface StoredPins {
  /** True once the first listing was pinned. */
  readonly pinned: boolean;
  readonly pins: readonly Pin[];
  /** Names of pins that the last listing offered unchanged. */
  readonly served: readonly string[];
  readonly quarantined: readonly Definition[];
}

interface ToolRow {
  readonly upstream: string;
  readonly spec_digest: string;
  readonly tool: string;
  readonly hash: string;
  readonly definition: string;
}

interface Tables {
  readonly fleet_accepted: { upstream: string; spec_digest: string; program: string | null; accepted_at: string; proof: string };
  readonly fleet_reported: { upstream: string; spec_digest: string };
  readonly fleet_pin_set: { upstream: string; spec_digest: string; pinned_at: string };
  readonly fleet_pin: ToolRow & { offered: number };
  readonly fleet_quarantine: ToolRow & { unusable: string | null };
}

type Tx = Transaction<Tables>;

export async function readAcceptances(queries: Queries<Tables>): Promise<Acceptance[]> {
  const rows = await queries.selectFrom('fleet_accepted').selectAll().execute();
  return rows.map((row) => ({ upstream: row.upstream, specDigest: row.spec_digest, program: row.program ?? undefined }));
}

/** `acceptedAt` is ISO 8601, `proof` the JSON of the proof's facts. Replaces an earlier acceptance of the same name. */
export async function writeAcceptance(tx: Tx, acceptance: Acceptance, acceptedAt: string, proof: string): Promise<void> {
  const row = { spec_digest: acceptance.specDigest, program: acceptance.program ?? null, accepted_at: acceptedAt, proof };
  await tx
    .insertInto('fleet_accepted')
    .values({ upstream: acceptance.upstream, ...row })
    .onConflict((conflict) => conflict.column('upstream').doUpdateSet(row))
    .execute();
}

export async function deleteAcceptance(tx: Tx, upstream: string): Promise<void> {
  await tx.deleteFrom('fleet_accepted').where('upstream', '=', upstream).execute();
}

/** False when it was reported before. */
export async function markReported(tx: Tx, { upstream, specDigest }: PinKey): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('fleet_reported')
    .values({ upstream, spec_digest: specDigest })
    .onConflict((conflict) => conflict.columns(['upstream', 'spec_digest']).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

export async function readPins(queries: Queries<Tables>, { upstream, specDigest }: PinKey): Promise<StoredPins> {
  const set = await queries
    .selectFrom('fleet_pin_set')
    .selectAll()
    .where('upstream', '=', upstream)
    .where('spec_digest', '=', specDigest)
    .executeTakeFirst();
  const pins = await queries
    .selectFrom('fleet_pin')
    .selectAll()
    .where('upstream', '=', upstream)
    .where('spec_digest', '=', specDigest)
    .execute();
  const quarantined = await queries
    .selectFrom('fleet_quarantine')
    .selectAll()
    .where('upstream', '=', upstream)
    .where('spec_digest', '=', specDigest)
    .execute();
  return {
    pinned: set !== undefined,
    pins: pins.map((row) => ({ tool: row.tool, hash: row.hash, text: row.definition })),
    served: pins.filter((row) => row.offered === 1).map((row) => row.tool),
    quarantined: quarantined.map((row) => ({
      tool: row.tool,
      hash: row.hash,
      text: row.definition,
      ...(row.unusable === null ? {} : { unusable: row.unusable }),
    })),
  };
}

/** What may run and which tools it may serve, for the seal over rights; a definition that is not the one of its hash is not served. */
export async function fleetRights(queries: Queries<Tables>): Promise<readonly object[]> {
  const [accepted, sets, pins] = await Promise.all([
    queries.selectFrom('fleet_accepted').select(['upstream', 'spec_digest', 'program']).execute(),
    queries.selectFrom('fleet_pin_set').select(['upstream', 'spec_digest']).execute(),
    queries.selectFrom('fleet_pin').select(['upstream', 'spec_digest', 'tool', 'hash']).execute(),
  ]);
  return [...accepted, ...sets, ...pins];
}

/** Marks the first listing as pinned; false when another commit did so before. */
export async function markPinned(tx: Tx, { upstream, specDigest }: PinKey, pinnedAt: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('fleet_pin_set')
    .values({ upstream, spec_digest: specDigest, pinned_at: pinnedAt })
    .onConflict((conflict) => conflict.columns(['upstream', 'spec_digest']).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Accepts a definition and ends its quarantine. */
export async function writePin(tx: Tx, key: PinKey, { tool, hash, text }: Pin): Promise<void> {
  await tx
    .insertInto('fleet_pin')
    .values({ upstream: key.upstream, spec_digest: key.specDigest, tool, hash, definition: text, offered: 1 })
    .onConflict((conflict) =>
      conflict.columns(['upstream', 'spec_digest', 'tool']).doUpdateSet({ hash, definition: text, offered: 1 }),
    )
    .execute();
  await tx
    .deleteFrom('fleet_quarantine')
    .where('upstream', '=', key.upstream)
    .where('spec_digest', '=', key.specDigest)
    .where('tool', '=', tool)
    .execute();
}

/** Replaces what the last listing left: which pins it offered unchanged, and what is quarantined. */
export async function writeOffer(
  tx: Tx,
  key: PinKey,
  served: readonly string[],
  quarantined: readonly Definition[],
): Promise<void> {
  await tx
    .updateTable('fleet_pin')
    .set({ offered: 0 })
    .where('upstream', '=', key.upstream)
    .where('spec_digest', '=', key.specDigest)
    .execute();
  for (const names of chunks(served)) {
    await tx
      .updateTable('fleet_pin')
      .set({ offered: 1 })
      .where('upstream', '=', key.upstream)
      .where('spec_digest', '=', key.specDigest)
      .where('tool', 'in', names)
      .execute();
  }
  await tx.deleteFrom('fleet_quarantine').where('upstream', '=', key.upstream).where('spec_digest', '=', key.specDigest).execute();
  for (const { tool, hash, text, unusable } of quarantined) {
    await tx
      .insertInto('fleet_quarantine')
      .values({ upstream: key.upstream, spec_digest: key.specDigest, tool, hash, definition: text, unusable: unusable ?? null })
      .execute();
  }
}

/** Databases bound the parameters of one statement. */
function chunks(names: readonly string[], size = 500): string[][] {
  return Array.from({ length: Math.ceil(names.length / size) }, (_, at) => names.slice(at * size, (at + 1) * size));
}
