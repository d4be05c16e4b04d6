// Approval rows. The only SQL of this slice; each change of state names the state it changes from, so that one of two wins.
import type { Database, Migration, Queries, Transaction } from '../../kernel/database.ts';
import { AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Digest } from '../../kernel/ports.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { Guard } from '../policy/model.ts';
import { approvalsTable } from './migrations/001-approvals.ts';
import { approvalOrigins, denialMemoryMs, questionOf, type Approval, type ApprovalOrigin, type ApprovalState } from './model.ts';

export const approvalMigrations: readonly Migration[] = [approvalsTable];

/** The history shown is bounded; older rows stay. */
const mostListed = 1_000;

// PostgreSQL hands its 64-bit integers out as text.
type Instant = number | string;

interface ApprovalRow {
  readonly id: string;
  readonly question: string;
  readonly agent: string;
  readonly origin: string;
  readonly capability: string;
  readonly rule: string;
  readonly reason: string;
  readonly args: string | null;
  readonly tool_hash: string | null;
  readonly ttl_ms: Instant;
  readonly guards: string;
  readonly policy_version: string;
  readonly requested_at: Instant;
  readonly expires_at: Instant;
  readonly state: string;
  readonly decided_at: Instant | null;
  readonly decision_reason: string | null;
  readonly proof: string | null;
  readonly usable_until: Instant | null;
  readonly used_at: Instant | null;
}

interface Tables {
  readonly approvals_approval: ApprovalRow;
}

export interface ApprovalStore {
  get(id: string): Promise<Approval | undefined>;
  /** Newest first, at most 1,000; `open` as rows have it, whatever the clock says. */
  list(which: 'open' | 'all'): Promise<Approval[]>;
  /** What can still matter to a call: pending, denied lately, approved calls not used and still usable. */
  live(now: number): Promise<Approval[]>;
  insert(tx: Transaction<Tables>, approval: Approval): Promise<void>;
  /** Writes the decision if the row is still pending and, by `now`, not expired; false when it is not. */
  decide(tx: Transaction<Tables>, decided: Approval, now: number): Promise<boolean>;
  /** Closes the row if it is pending and its time is over. */
  expire(tx: Transaction<Tables>, id: string, now: number): Promise<boolean>;
  /** Closes what is pending of this agent and ends what it could still spend; the rows as they are then. */
  withdraw(tx: Transaction<Tables>, agent: string, now: number): Promise<Approval[]>;
  /** Takes the one execution if nobody did and it is still to be had. */
  use(tx: Transaction<Tables>, id: string, now: number): Promise<boolean>;
}

export function createApprovalStore(db: Database, digest: Digest): ApprovalStore {
  const queries: Queries<Tables> = db.queries;
  const read = (row: ApprovalRow): Approval => toApproval(row, digest);

  return {
    async get(id) {
      const row = await queries.selectFrom('approvals_approval').selectAll().where('id', '=', id).executeTakeFirst();
      return row && read(row);
    },

    async list(which) {
      const all = queries
        .selectFrom('approvals_approval')
        .selectAll()
        .orderBy('requested_at', 'desc')
        .orderBy('id')
        .limit(mostListed);
      const rows = await (which === 'all' ? all : all.where('state', '=', 'pending')).execute();
      return rows.map(read);
    },

    async live(now) {
      const rows = await queries
        .selectFrom('approvals_approval')
        .selectAll()
        .where((is) =>
          is.or([
            is('state', '=', 'pending'),
            is.and([is('state', '=', 'denied'), is('decided_at', '>', now - denialMemoryMs)]),
            is.and([is('state', '=', 'approved'), is('used_at', 'is', null), is('usable_until', '>', now)]),
          ]),
        )
        .orderBy('requested_at')
        .execute();
      return rows.map(read);
    },

    async insert(tx, approval) {
      await tx.insertInto('approvals_approval').values(toRow(approval, digest)).execute();
    },

    async decide(tx, decided, now) {
      const { state, decided_at, decision_reason, proof, usable_until, policy_version } = toRow(decided, digest);
      const { numUpdatedRows } = await tx
        .updateTable('approvals_approval')
        .set({ state, decided_at, decision_reason, proof, usable_until, policy_version })
        .where('id', '=', decided.id)
        .where('state', '=', 'pending')
        .where('expires_at', '>', now)
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },

    async expire(tx, id, now) {
      const { numUpdatedRows } = await tx
        .updateTable('approvals_approval')
        .set({ state: 'expired' })
        .where('id', '=', id)
        .where('state', '=', 'pending')
        .where('expires_at', '<=', now)
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },

    async withdraw(tx, agent, now) {
      const pending = await tx
        .updateTable('approvals_approval')
        .set({ state: 'expired' })
        .where('agent', '=', agent)
        .where('state', '=', 'pending')
        .returningAll()
        .execute();
      const spendable = await tx
        .updateTable('approvals_approval')
        .set({ usable_until: now })
        .where('agent', '=', agent)
        .where('state', '=', 'approved')
        .where('used_at', 'is', null)
        .where('usable_until', '>', now)
        .returningAll()
        .execute();
      return [...pending, ...spendable].map(read);
    },

    async use(tx, id, now) {
      const { numUpdatedRows } = await tx
        .updateTable('approvals_approval')
        .set({ used_at: now })
        .where('id', '=', id)
        .where('state', '=', 'approved')
        .where('origin', '=', 'call')
        .where('used_at', 'is', null)
        .where('usable_until', '>', now)
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },
  };
}

/** Calls that were approved and not made, for the seal over rights; `question` stands for agent, capability, arguments and tool. */
export async function approvalRights(queries: Queries<Tables>): Promise<readonly object[]> {
  return queries
    .selectFrom('approvals_approval')
    .select(['id', 'question', 'policy_version', 'usable_until'])
    .where('state', '=', 'approved')
    .where('origin', '=', 'call')
    .where('used_at', 'is', null)
    .execute();
}

function toRow(approval: Approval, digest: Digest): ApprovalRow {
  return {
    id: approval.id,
    question: questionOf(approval, digest),
    agent: approval.agent,
    origin: approval.origin,
    capability: approval.capability,
    rule: approval.rule,
    // As JSON: PostgreSQL keeps no NUL in a text, and an agent may send one.
    reason: canonicalJson(approval.reason),
    args: approval.args === undefined ? null : canonicalJson(approval.args),
    tool_hash: approval.toolHash ?? null,
    ttl_ms: approval.ttlMs,
    guards: canonicalJson(approval.guards),
    policy_version: approval.policyVersion,
    requested_at: approval.requestedAt,
    expires_at: approval.expiresAt,
    state: approval.state,
    decided_at: approval.decidedAt ?? null,
    decision_reason: approval.decisionReason === undefined ? null : canonicalJson(approval.decisionReason),
    proof: approval.proof === undefined ? null : canonicalJson(approval.proof),
    usable_until: approval.usableUntil ?? null,
    used_at: approval.usedAt ?? null,
  };
}

const origins: readonly string[] = approvalOrigins;
const states: readonly string[] = ['pending', 'approved', 'denied', 'expired'] satisfies ApprovalState[];

/** A row whose parts no longer make its question is not shown to anybody and buys nothing. */
function toApproval(row: ApprovalRow, digest: Digest): Approval {
  try {
    const approval = parseRow(row);
    if (origins.includes(row.origin) && states.includes(row.state) && questionOf(approval, digest) === row.question)
      return approval;
  } catch {
    // Not JSON: told below like every other damage.
  }
  throw new AppError('unavailable', 'approvals.locked', `The approval ${row.id} is unreadable in the database.`, {
    hint: 'Restore the database from a backup.',
  });
}

function parseRow(row: ApprovalRow): Approval {
  return {
    id: row.id,
    agent: row.agent,
    origin: row.origin as ApprovalOrigin,
    capability: row.capability,
    rule: row.rule,
    reason: JSON.parse(row.reason) as string,
    ...(row.args !== null && { args: JSON.parse(row.args) as JsonObject }),
    ...(row.tool_hash !== null && { toolHash: row.tool_hash }),
    ttlMs: Number(row.ttl_ms),
    guards: JSON.parse(row.guards) as Guard[],
    policyVersion: row.policy_version,
    requestedAt: Number(row.requested_at),
    expiresAt: Number(row.expires_at),
    state: row.state as ApprovalState,
    ...(row.decided_at !== null && { decidedAt: Number(row.decided_at) }),
    ...(row.decision_reason !== null && { decisionReason: JSON.parse(row.decision_reason) as string }),
    ...(row.usable_until !== null && { usableUntil: Number(row.usable_until) }),
    ...(row.used_at !== null && { usedAt: Number(row.used_at) }),
    ...(row.proof !== null && { proof: JSON.parse(row.proof) as JsonObject }),
  };
}
