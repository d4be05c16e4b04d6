// The outbox and the anchor of each log. The only SQL of this slice; a draft is opaque text here.
import { sql } from 'kysely';
import type { Database, Dialect, Migration, Queries, Transaction } from '../../kernel/database.ts';
import { outboxTable } from './migrations/001-outbox.ts';
import { anchorTable } from './migrations/002-anchor.ts';

export const auditMigrations: readonly Migration[] = [outboxTable, anchorTable];

export interface OutboxRow {
  /** Ascending within one origin; the order of the log. */
  readonly position: number;
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly committedAt: number;
  readonly draft: string;
}

interface Tables {
  // PostgreSQL gives 64-bit integers as text, and all of ours fit a double.
  readonly audit_outbox: {
    readonly origin: string;
    readonly position: number | string;
    readonly id: string;
    readonly committed_at: number | string;
    readonly draft: string;
  };
  readonly audit_anchor: { readonly origin: string; readonly note: string };
}

/**
 * How many things in the database act by themselves or stand for something else: triggers, rules and views. None of them is ours,
 * and each could change a row that nobody asked to change.
 */
export async function countHooks(queries: Queries, dialect: Dialect): Promise<number> {
  const count = dialect === 'sqlite' ? sqliteHooks : postgresHooks;
  const { rows } = await count.execute(queries);
  return Number(rows[0]?.hooks ?? 0);
}

const sqliteHooks = sql<{ hooks: number }>`select count(*) as hooks from sqlite_master where type in ('trigger', 'view')`;
const postgresHooks = sql<{ hooks: string }>`select
  (select count(*) from pg_trigger join pg_class on pg_class.oid = tgrelid
    where relnamespace = current_schema()::regnamespace and not tgisinternal)
  + (select count(*) from pg_rules where schemaname = current_schema())
  + (select count(*) from pg_views where schemaname = current_schema()) as hooks`;

/** Joins the caller's transaction. */
export async function putOutbox(tx: Transaction<Tables>, origin: string, rows: readonly OutboxRow[]): Promise<void> {
  if (rows.length === 0) return;
  const values = rows.map(({ position, id, committedAt, draft }) => ({ origin, position, id, committed_at: committedAt, draft }));
  await tx.insertInto('audit_outbox').values(values).execute();
}

/** What waits, in order. */
export async function readOutbox(db: Database, origin: string): Promise<OutboxRow[]> {
  const queries: Queries<Tables> = db.queries;
  const rows = await queries.selectFrom('audit_outbox').selectAll().where('origin', '=', origin).orderBy('position').execute();
  return rows.map((row) => ({
    position: Number(row.position),
    id: row.id,
    committedAt: Number(row.committed_at),
    draft: row.draft,
  }));
}

export async function readAnchor(db: Database, origin: string): Promise<string | undefined> {
  const queries: Queries<Tables> = db.queries;
  const row = await queries.selectFrom('audit_anchor').select('note').where('origin', '=', origin).executeTakeFirst();
  return row?.note;
}

/** Takes rows out whose records stand in the log, and remembers the checkpoint `note` that covers the log so far. */
export async function settleOutbox(db: Database, origin: string, ids: readonly string[], note: string): Promise<void> {
  await db.transaction(async (tx: Transaction<Tables>) => {
    if (ids.length > 0) await tx.deleteFrom('audit_outbox').where('origin', '=', origin).where('id', 'in', ids).execute();
    await tx
      .insertInto('audit_anchor')
      .values({ origin, note })
      .onConflict((conflict) => conflict.column('origin').doUpdateSet({ note }))
      .execute();
  });
}
