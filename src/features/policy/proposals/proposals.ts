// The queue of what agents propose. The database holds it, so that a proposal and its record are one commit; policies.pending.yaml is a
// copy for people. Nothing here changes a policy but an acceptance that the operator signed, and that in the commit that puts it in force.
import type { Database, Transaction } from '../../../kernel/database.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Clock, Digest, Files, Log } from '../../../kernel/ports.ts';
import { createTurns } from '../../../lib/turns.ts';
import type { Audit } from '../../audit/audit.ts';
import { edited, hashOf } from '../policy-file.ts';
import type { PolicyAdmin } from '../policy.ts';
import { openingOf } from '../standing.ts';
import { acceptanceOf, type Acceptance } from './acceptance.ts';
import { pendingText } from './pending-file.ts';
import {
  mostPending,
  noProposal,
  notPending,
  proposedRule,
  rejectionMemoryMs,
  type Proposal,
  type Proposals,
  type Proposed,
} from './proposal.ts';
import { remarksOn } from './remarks.ts';
import { closeProposal, getProposal, insertProposal, listProposals, recentOf } from './store.ts';

export interface ProposalDeps {
  readonly db: Database;
  readonly audit: Audit;
  readonly files: Files;
  /** Of policies.pending.yaml, absolute. */
  readonly path: string;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly log: Log;
  readonly policy: PolicyAdmin;
}

/** What a person does with it; the gateway has checked who may. */
export interface ProposalDesk extends Proposals {
  /** Pending ones in their order, or all, the newest first. */
  list(which: 'pending' | 'all'): Promise<Proposal[]>;
  /** Throws `policy.no_proposal`, `policy.not_pending`. */
  pending(n: number): Promise<Proposal>;
  /** Throws like `acceptanceOf`, and `policy.edited` while the policy file is not the one in force. */
  acceptance(n: number, shorterMs?: number): Promise<Acceptance>;
  /** Throws `policy.edited`, `operator.changed`, `policy.not_pending`; then nothing was done. */
  accept(acceptance: Acceptance, proof: JsonObject): Promise<{ readonly version: string }>;
  reject(n: number, reason: string, proof: JsonObject): Promise<Proposal>;
  /** Closes what is pending of an agent that ended. */
  withdraw(agent: string): Promise<void>;
}

export async function createProposals(deps: ProposalDeps): Promise<ProposalDesk> {
  const { db, audit, files, path, clock, digest, log, policy } = deps;
  const turns = createTurns();
  const hash = (text: string): string => hashOf(digest, text);

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = await turns();
    try {
      return await work();
    } finally {
      done();
    }
  }

  /** The copy follows the queue; one that cannot be written is made up for at the next change or start. */
  async function copy(): Promise<void> {
    try {
      const pending = await listProposals(db, 'pending');
      const existing = await files.readText(path).catch(() => undefined);
      const text = pendingText(pending, existing);
      if (text !== existing && (pending.length > 0 || existing !== undefined)) await files.writeAtomic(path, text);
    } catch (thrown) {
      log.warn('the copy of the pending proposals was not written; sallyport policies review shows them', {
        cause: String(thrown),
      });
    }
  }

  async function pending(n: number): Promise<Proposal> {
    const proposal = await getProposal(db.queries, n);
    if (proposal === undefined) throw noProposal(n);
    if (proposal.state !== 'pending') throw notPending(proposal);
    return proposal;
  }

  await copy();

  return {
    path,

    async propose(agent, { match, ttl, justification }) {
      const rule = proposedRule(match, ttl);
      const opening = openingOf(policy.standing());
      const found = opening.open ? remarksOn(opening.adopted.engine.agent(agent), rule) : undefined;
      const { ttlMs } = rule;
      return inTurn(async () => {
        const now = clock.now();
        const proposed = await audit.commit<Proposed>(
          async (tx) => {
            const recent = await recentOf(tx, agent, now - rejectionMemoryMs);
            const same = recent.filter((other) => other.match === match && other.ttlMs === ttlMs);
            const known = same.find(({ state }) => state === 'pending') ?? same[0];
            if (known !== undefined) return { value: repeated(known, found?.others ?? [], now), entries: [] };
            if (recent.filter(({ state }) => state === 'pending').length >= mostPending) throw tooMany();
            const proposal = await insertProposal(tx, {
              agent,
              match,
              ...(ttlMs !== undefined && { ttlMs }),
              justification,
              ...(found?.conflict !== undefined && { conflict: found.conflict }),
              proposedAt: now,
              state: 'pending',
            });
            const facts = { proposal: proposal.n, agent, ...(ttlMs !== undefined && { ttl_ms: ttlMs }) };
            const entry = { event: 'proposal.queued', actor: `agent:${agent}`, facts, sealed: { match, justification } } as const;
            return { value: { kind: 'queued', proposal, remarks: found?.others ?? [] }, entries: [entry] };
          },
          { keepsRights: true },
        );
        if (proposed.kind === 'queued') await copy();
        return proposed;
      });
    },

    list: (which) => listProposals(db, which),
    pending,

    async acceptance(n, shorterMs) {
      const acceptance = acceptanceOf(policy.standing(), await pending(n), shorterMs, hash);
      const { text } = await policy.readFile();
      // The latter: a daemon that died between the file and the commit.
      if (hash(text) !== acceptance.from && text !== acceptance.text) throw edited();
      return acceptance;
    },

    accept: ({ proposal, ttlMs, from, text }, proof) =>
      inTurn(async () => {
        const { n, agent, match } = proposal;
        const done = await policy.supersede(from, text, proof, async (tx) => {
          if (!(await closeProposal(tx, n, { state: 'accepted', decidedAt: clock.now() }))) throw await decidedMeanwhile(tx, n);
          const facts = { proposal: n, agent, match, ...(ttlMs !== undefined && { ttl_ms: ttlMs }), proof };
          return [{ event: 'proposal.accepted', actor: 'operator', facts }];
        });
        await copy();
        return done;
      }),

    reject: (n, reason, proof) =>
      inTurn(async () => {
        const proposal = await pending(n);
        await audit.commit(
          async (tx) => {
            if (!(await closeProposal(tx, n, { state: 'rejected', decidedAt: clock.now(), reason })))
              throw await decidedMeanwhile(tx, n);
            const facts = { proposal: n, agent: proposal.agent, proof };
            return { value: undefined, entries: [{ event: 'proposal.rejected', actor: 'operator', facts, sealed: { reason } }] };
          },
          { decision: true, keepsRights: true },
        );
        await copy();
        return proposal;
      }),

    withdraw: (agent) =>
      inTurn(async () => {
        const now = clock.now();
        const closed = await audit.commit(
          async (tx) => {
            const open = (await recentOf(tx, agent, now)).filter(({ state }) => state === 'pending');
            for (const { n } of open) await closeProposal(tx, n, { state: 'withdrawn', decidedAt: now });
            const entry = {
              event: 'proposal.withdrawn',
              actor: 'daemon',
              facts: { agent, proposals: open.map(({ n }) => n) },
            } as const;
            return { value: open.length, entries: open.length === 0 ? [] : [entry] };
          },
          { keepsRights: true },
        );
        if (closed > 0) await copy();
      }),
  };
}

async function decidedMeanwhile(tx: Transaction, n: number): Promise<AppError> {
  const proposal = await getProposal(tx, n);
  return proposal === undefined ? noProposal(n) : notPending(proposal);
}

function repeated(known: Proposal, remarks: readonly string[], now: number): Proposed {
  if (known.state === 'pending') return { kind: 'deduped', proposal: known, remarks };
  return { kind: 'rejected', proposal: known, retryAfterMs: (known.decidedAt ?? now) + rejectionMemoryMs - now };
}

function tooMany(): AppError {
  const message = `${mostPending} proposals of this agent wait for a human already.`;
  return new AppError('limited', 'policy.too_many_proposals', message, {
    hint: 'Ask the human to run: scopegate policies review',
  });
}
