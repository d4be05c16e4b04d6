// Rows of proposals. SQL of the policy slice beside its own store; each change of state names the state it changes from, so that one of
// two wins.
import type { Database, Queries, Transaction } from '../../../kernel/database.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { Proposal, ProposalState } from './proposal.ts';

/** The history shown is bounded; older rows stay. */
const mostListed = 1_000;

// PostgreSQL hands its 64-bit integers out as text.
type Instant = number | string;

interface ProposalRow {
  readonly n: number;
  readonly agent: string;
  readonly match: string;
  readonly ttl_ms: Instant | null;
  readonly justification: string;
  readonly conflict: string | null;
  readonly proposed_at: Instant;
  readonly state: string;
  readonly decided_at: Instant | null;
  readonly reason: string | null;
}

interface Tables {
  readonly policy_proposal: ProposalRow;
}

type Source = Queries<Tables> | Transaction<Tables>;

export async function getProposal(source: Source, n: number): Promise<Proposal | undefined> {
  const row = await source.selectFrom('policy_proposal').selectAll().where('n', '=', n).executeTakeFirst();
  return row && toProposal(row);
}

/** Pending ones in their order, or all, the newest first and at most 1,000. */
export async function listProposals(db: Database, which: 'pending' | 'all'): Promise<Proposal[]> {
  const queries: Queries<Tables> = db.queries;
  const all = queries.selectFrom('policy_proposal').selectAll();
  const rows =
    which === 'all'
      ? await all.orderBy('n', 'desc').limit(mostListed).execute()
      : await all.where('state', '=', 'pending').orderBy('n').execute();
  return rows.map(toProposal);
}

/** What one agent has pending, and what was rejected after `since`. */
export async function recentOf(tx: Source, agent: string, since: number): Promise<Proposal[]> {
  const rows = await tx
    .selectFrom('policy_proposal')
    .selectAll()
    .where('agent', '=', agent)
    .where((is) => is.or([is('state', '=', 'pending'), is.and([is('state', '=', 'rejected'), is('decided_at', '>', since)])]))
    .execute();
  return rows.map(toProposal);
}

/** Gives it the next number. */
export async function insertProposal(tx: Transaction<Tables>, proposal: Omit<Proposal, 'n'>): Promise<Proposal> {
  const { last } = await tx
    .selectFrom('policy_proposal')
    .select(({ fn }) => fn.max('n').as('last'))
    .executeTakeFirstOrThrow();
  const whole = { ...proposal, n: (last ?? 0) + 1 };
  await tx.insertInto('policy_proposal').values(toRow(whole)).execute();
  return whole;
}

export interface Closing {
  readonly state: Exclude<ProposalState, 'pending'>;
  readonly decidedAt: number;
  readonly reason?: string;
}

/** False when it is not pending any more. */
export async function closeProposal(tx: Transaction<Tables>, n: number, { state, decidedAt, reason }: Closing): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('policy_proposal')
    .set({ state, decided_at: decidedAt, reason: reason === undefined ? null : JSON.stringify(reason) })
    .where('n', '=', n)
    .where('state', '=', 'pending')
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

function toRow(proposal: Proposal): ProposalRow {
  return {
    n: proposal.n,
    agent: proposal.agent,
    match: proposal.match,
    ttl_ms: proposal.ttlMs ?? null,
    justification: JSON.stringify(proposal.justification),
    conflict: proposal.conflict ?? null,
    proposed_at: proposal.proposedAt,
    state: proposal.state,
    decided_at: proposal.decidedAt ?? null,
    reason: proposal.reason === undefined ? null : JSON.stringify(proposal.reason),
  };
}

function toProposal(row: ProposalRow): Proposal {
  try {
    return {
      n: row.n,
      agent: row.agent,
      match: row.match,
      ...(row.ttl_ms !== null && { ttlMs: Number(row.ttl_ms) }),
      justification: String(JSON.parse(row.justification)),
      ...(row.conflict !== null && { conflict: row.conflict }),
      proposedAt: Number(row.proposed_at),
      state: row.state as ProposalState,
      ...(row.decided_at !== null && { decidedAt: Number(row.decided_at) }),
      ...(row.reason !== null && { reason: String(JSON.parse(row.reason)) }),
    };
  } catch {
    throw new AppError('unavailable', 'policy.locked', `Proposal ${row.n} is unreadable in the database.`, {
      hint: 'Restore the database from a backup.',
    });
  }
}
