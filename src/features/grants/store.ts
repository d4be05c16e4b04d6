// Grant rows. The only SQL of this slice; decides nothing.
import type { Database, Migration, Queries, Transaction } from '../../kernel/database.ts';
import { AppError } from '../../kernel/errors.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { Guard } from '../policy/model.ts';
import { grantsTable } from './migrations/001-grants.ts';
import { grantGuards } from './migrations/002-guards.ts';
import type { Grant } from './model.ts';

export const grantMigrations: readonly Migration[] = [grantsTable, grantGuards];

interface GrantRow {
  readonly id: string;
  readonly agent: string;
  readonly capability: string;
  readonly origin: string;
  readonly rule: string;
  readonly approval_id: string | null;
  // PostgreSQL hands its 64-bit integers out as text.
  readonly granted_at: number | string;
  readonly expires_at: number | string;
  readonly ttl_ms: number | string;
  readonly guards: string | null;
}

interface Tables {
  readonly grants_grant: GrantRow;
}

/** Every grant that has not expired at `now`. Throws `grants.locked` for a row that cannot be read. */
export async function readLive(db: Database, now: number): Promise<Grant[]> {
  const queries: Queries<Tables> = db.queries;
  const rows = await queries.selectFrom('grants_grant').selectAll().where('expires_at', '>', now).execute();
  return rows.map(toGrant);
}

/** What people granted, for the seal over rights; what policy grants is decided anew for each call. */
export async function grantRights(queries: Queries<Tables>): Promise<readonly object[]> {
  const columns = ['id', 'agent', 'capability', 'expires_at', 'guards'] as const;
  return queries.selectFrom('grants_grant').select(columns).where('origin', '=', 'human').execute();
}

export async function insertGrant(tx: Transaction<Tables>, grant: Grant): Promise<void> {
  const { id, agent, capability, origin, rule } = grant;
  await tx
    .insertInto('grants_grant')
    .values({
      id,
      agent,
      capability,
      origin,
      rule,
      approval_id: grant.approvalId ?? null,
      granted_at: grant.grantedAt,
      expires_at: grant.expiresAt,
      ttl_ms: grant.ttlMs,
      guards: grant.guards === undefined ? null : canonicalJson(grant.guards),
    })
    .execute();
}

/** How many rows had expired at `now` and are gone. */
export async function deleteExpired(tx: Transaction<Tables>, now: number): Promise<number> {
  const { numDeletedRows } = await tx.deleteFrom('grants_grant').where('expires_at', '<=', now).executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** How many grants of the agent were live at `now` and are gone. */
export async function deleteLive(tx: Transaction<Tables>, agent: string, now: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('grants_grant')
    .where('agent', '=', agent)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

function toGrant(row: GrantRow): Grant {
  const { id, agent, capability, origin, rule } = row;
  const [grantedAt, expiresAt, ttlMs] = [Number(row.granted_at), Number(row.expires_at), Number(row.ttl_ms)];
  const guards = guardsOf(row.guards);
  const readable =
    (origin === 'policy' || origin === 'human') &&
    expiresAt === grantedAt + ttlMs &&
    guards !== 'unreadable' &&
    (origin === 'human') === (row.approval_id !== null);
  if (!readable) {
    throw new AppError('unavailable', 'grants.locked', `The grant ${id} is unreadable in the database.`, {
      hint: 'Restore the database from a backup.',
    });
  }
  return {
    id,
    agent,
    capability,
    origin,
    rule,
    ...(row.approval_id !== null && { approvalId: row.approval_id }),
    grantedAt,
    expiresAt,
    ttlMs,
    ...(guards !== undefined && { guards }),
  };
}

function guardsOf(text: string | null): readonly Guard[] | 'unreadable' | undefined {
  if (text === null) return undefined;
  try {
    const guards = JSON.parse(text) as unknown;
    return Array.isArray(guards) && guards.length > 0 ? (guards as Guard[]) : 'unreadable';
  } catch {
    return 'unreadable';
  }
}
