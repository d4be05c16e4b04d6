// The policy's single row. The only SQL of this slice; does not look into the text.
import type { Database, Migration, Queries, Transaction } from '../../kernel/database.ts';
import { inForceTable } from './migrations/001-in-force.ts';
import { proposalsTable } from './migrations/002-proposals.ts';

export const policyMigrations: readonly Migration[] = [inForceTable, proposalsTable];

/** `first`: with the operator; `signed`: by the operator's signature; `narrowed`: an unsigned edit that only takes away. */
export type Adoption = 'first' | 'signed' | 'narrowed';

export interface InForceRow {
  readonly text: string;
  /** Hex SHA-256 of the text, as it was when adopted. */
  readonly version: string;
  readonly how: Adoption;
  /** ISO 8601. */
  readonly adoptedAt: string;
}

interface Tables {
  readonly policy_in_force: {
    readonly singleton: number;
    readonly text: string;
    readonly version: string;
    readonly how: Adoption;
    readonly adopted_at: string;
  };
}

const singleton = 1;

/** The row as it stands, unchecked. */
export async function readInForce(db: Database): Promise<InForceRow | undefined> {
  const queries: Queries<Tables> = db.queries;
  const row = await queries.selectFrom('policy_in_force').selectAll().executeTakeFirst();
  return row && { text: row.text, version: row.version, how: row.how, adoptedAt: row.adopted_at };
}

/** What is in force, for the seal over rights; a text that is not the one of its version is refused when it is read. */
export async function policyRights(queries: Queries<Tables>): Promise<readonly object[]> {
  return queries.selectFrom('policy_in_force').select(['version', 'how']).execute();
}

export async function writeInForce(tx: Transaction<Tables>, { text, version, how, adoptedAt }: InForceRow): Promise<void> {
  const values = { text, version, how, adopted_at: adoptedAt };
  await tx
    .insertInto('policy_in_force')
    .values({ singleton, ...values })
    .onConflict((conflict) => conflict.column('singleton').doUpdateSet(values))
    .execute();
}
