// The operator's two single rows and the statements it signed. The only SQL of this slice; knows nothing of signatures.
import type { Database, Migration, Queries, Transaction } from '../../kernel/database.ts';
import { installationTable } from './migrations/001-installation.ts';
import { operatorTable } from './migrations/002-operator.ts';
import { statementsTable } from './migrations/003-statements.ts';
import type { OperatorKey } from './model.ts';

export const operatorMigrations: readonly Migration[] = [installationTable, operatorTable, statementsTable];

const singleton = 1;

interface Tables {
  readonly operator_installation: { readonly singleton: number; readonly installation: string };
  readonly operator_key: {
    readonly singleton: number;
    readonly key_id: string;
    readonly public_key: string;
    readonly created_at: string;
  };
  readonly operator_statement: { readonly sha256: string; readonly statement: string };
}

/** The stored installation, after storing `fresh` where there was none: concurrent first boots agree on one. */
export async function keepInstallation(db: Database, fresh: string): Promise<string> {
  return db.transaction(async (tx: Transaction<Tables>) => {
    await tx
      .insertInto('operator_installation')
      .values({ singleton, installation: fresh })
      .onConflict((conflict) => conflict.column('singleton').doNothing())
      .execute();
    const row = await tx.selectFrom('operator_installation').select('installation').executeTakeFirstOrThrow();
    return row.installation;
  });
}

/** The row as it stands, unchecked; `undefined` while there is no operator. */
export async function readOperator(db: Database): Promise<OperatorKey | undefined> {
  const queries: Queries<Tables> = db.queries;
  const row = await queries.selectFrom('operator_key').selectAll().executeTakeFirst();
  return row && { keyId: row.key_id, publicKey: row.public_key, createdAt: row.created_at };
}

/** Who decides, for the seal over rights. */
export async function operatorRights(queries: Queries<Tables>): Promise<readonly object[]> {
  return queries.selectFrom('operator_key').select(['key_id', 'public_key']).execute();
}

/** True when this call made the row, false when there was an operator already. */
export async function insertOperator(tx: Transaction<Tables>, key: OperatorKey): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('operator_key')
    .values({ singleton, key_id: key.keyId, public_key: key.publicKey, created_at: key.createdAt })
    .onConflict((conflict) => conflict.column('singleton').doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** A statement is signed once, so a second row of one hash can only be the same text. */
export async function insertStatement(db: Database, sha256: string, statement: string): Promise<void> {
  await db.transaction(async (tx: Transaction<Tables>) => {
    await tx
      .insertInto('operator_statement')
      // As a JSON string: PostgreSQL keeps no NUL in a text, and what an agent said may hold one.
      .values({ sha256, statement: JSON.stringify(statement) })
      .onConflict((conflict) => conflict.column('sha256').doNothing())
      .execute();
  });
}

export async function readStatement(db: Database, sha256: string): Promise<string | undefined> {
  const queries: Queries<Tables> = db.queries;
  const row = await queries.selectFrom('operator_statement').select('statement').where('sha256', '=', sha256).executeTakeFirst();
  return row && (JSON.parse(row.statement) as string);
}
