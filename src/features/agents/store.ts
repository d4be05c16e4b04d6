// The agents table. The only SQL of this slice; hands out rows as they stand, readable or not.
import type { Migration, Queries, Transaction } from '../../kernel/database.ts';
import { agentsTable } from './migrations/001-agents.ts';

export const agentMigrations: readonly Migration[] = [agentsTable];

export interface AgentRow {
  readonly name: string;
  /** Lower-case hex SHA-256 of the token. */
  readonly token_hash: string;
  readonly state: string;
  /** ISO 8601. */
  readonly created_at: string;
  readonly rotated_at: string | null;
  readonly reason: string | null;
}

interface Tables {
  readonly agents: AgentRow;
}

export async function readAgents(queries: Queries<Tables>): Promise<readonly AgentRow[]> {
  return queries.selectFrom('agents').selectAll().execute();
}

export async function readAgent(queries: Queries<Tables> | Transaction<Tables>, name: string): Promise<AgentRow | undefined> {
  return queries.selectFrom('agents').selectAll().where('name', '=', name).executeTakeFirst();
}

/** Who may come in, for the seal over rights. */
export async function agentRights(queries: Queries<Tables>): Promise<readonly object[]> {
  return queries.selectFrom('agents').select(['name', 'token_hash', 'state']).execute();
}

/** False when the name is taken. */
export async function insertAgent(tx: Transaction<Tables>, row: AgentRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('agents')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

export async function updateAgent(tx: Transaction<Tables>, name: string, change: Partial<Omit<AgentRow, 'name'>>): Promise<void> {
  await tx.updateTable('agents').set(change).where('name', '=', name).execute();
}

export async function deleteAgent(tx: Transaction<Tables>, name: string): Promise<void> {
  await tx.deleteFrom('agents').where('name', '=', name).execute();
}
