// The face of the grants slice: live grants in memory, one commit for each change.
import type { Audit } from '../audit/audit.ts';
import type { AuditEntry } from '../audit/model.ts';
import type { Database, Transaction } from '../../kernel/database.ts';
import type { Clock, Entropy } from '../../kernel/ports.ts';
import type { Guard } from '../policy/model.ts';
import { createLiveGrants, type Covers, type Suits } from './live-grants.ts';
import type { Grant, GrantOrigin } from './model.ts';
import { deleteExpired, deleteLive, insertGrant, readLive } from './store.ts';

export interface NewGrant {
  readonly agent: string;
  readonly capability: string;
  readonly origin: GrantOrigin;
  readonly rule: string;
  /** With origin `human`: the approval it was bought with. */
  readonly approvalId?: string;
  readonly ttlMs: number;
  /** With origin `human`: what it was limited to when the person read it; left out when any arguments will do. */
  readonly guards?: readonly Guard[];
}

export interface Grants {
  /**
   * A live grant of this agent whose language contains the capability; `human` asks for one a person gave, `suits` for one whose
   * guards it accepts. Synchronous.
   */
  covering(agent: string, capability: string, need: 'any' | 'human', suits?: Suits): Grant | undefined;
  /** Oldest first; of every agent when none is named. */
  active(agent?: string): readonly Grant[];
  /** Issues in one commit with its record. Concurrent calls for the same grant (every field) share one. */
  issue(grant: NewGrant, charge?: () => void): Promise<Grant>;
  /** The row and entry of an issue, for a caller that commits it with its own change; call `publish` after the commit. */
  stage(tx: Transaction, grant: NewGrant): Promise<StagedGrant>;
  /** Ends every grant of an agent (revoked, removed), one commit. */
  revokeAll(agent: string, reason: string): Promise<number>;
}

export interface StagedGrant {
  readonly grant: Grant;
  readonly entry: AuditEntry;
  readonly publish: () => void;
}

export interface GrantDeps {
  readonly db: Database;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly covers: Covers;
}

/** Expired rows are swept with the first issue after this long. */
const sweepEveryMs = 10 * 60_000;

/** Takes up the grants that outlived a restart. Rejects with `grants.locked` when one cannot be read. */
export async function createGrants({ db, audit, clock, entropy, covers }: GrantDeps): Promise<Grants> {
  const live = createLiveGrants(covers);
  const underWay = new Map<string, { readonly agent: string; readonly grant: Promise<Grant> }>();
  let sweepAt = clock.now();
  for (const grant of await readLive(db, clock.now())) live.add(grant);

  async function stage(tx: Transaction, wanted: NewGrant): Promise<StagedGrant> {
    const now = clock.now();
    const grant: Grant = { ...wanted, id: entropy.uuid(), grantedAt: now, expiresAt: now + wanted.ttlMs };
    await insertGrant(tx, grant);
    return { grant, entry: issued(grant), publish: () => live.add(grant) };
  }

  /** Expiry is no decision and needs no record of its own: `grant.issued` says when. The sweep says what it forgot. */
  async function sweep(tx: Transaction): Promise<AuditEntry[]> {
    const count = await deleteExpired(tx, clock.now());
    return count === 0 ? [] : [{ event: 'grant.expired', actor: 'daemon', facts: { count } }];
  }

  async function issueNow(wanted: NewGrant): Promise<Grant> {
    const sweeps = clock.now() >= sweepAt;
    if (sweeps) sweepAt = clock.now() + sweepEveryMs;
    const { grant, publish } = await audit.commit(
      async (tx) => {
        const swept = sweeps ? await sweep(tx) : [];
        const staged = await stage(tx, wanted);
        return { value: staged, entries: [...swept, staged.entry] };
      },
      { keepsRights: !sweeps && wanted.origin === 'policy' },
    );
    if (sweeps) live.dropExpired(clock.now());
    publish();
    return grant;
  }

  return {
    covering: (agent, capability, need, suits) => live.covering(agent, capability, need, clock.now(), suits),
    active: (agent) => live.list(agent, clock.now()),
    stage,

    issue(wanted, charge) {
      const { agent, capability, origin, rule, approvalId, ttlMs, guards } = wanted;
      const key = JSON.stringify([agent, capability, origin, rule, approvalId, ttlMs, guards]);
      const shared = underWay.get(key);
      if (shared !== undefined) return shared.grant;
      charge?.();
      const grant = issueNow(wanted).finally(() => underWay.delete(key));
      underWay.set(key, { agent, grant });
      return grant;
    },

    async revokeAll(agent, reason) {
      // What is being issued to this agent now must not slip in after the revocation.
      await Promise.allSettled([...underWay.values()].filter((issue) => issue.agent === agent).map((issue) => issue.grant));
      live.dropAgent(agent);
      return audit.commit(async (tx) => {
        const count = await deleteLive(tx, agent, clock.now());
        const entry: AuditEntry = { event: 'grant.revoked', actor: 'daemon', facts: { agent, count, reason } };
        return { value: count, entries: count === 0 ? [] : [entry] };
      });
    },
  };
}

function issued(grant: Grant): AuditEntry {
  const { id, agent, capability, origin, rule, approvalId, ttlMs, expiresAt } = grant;
  const facts = { grant: id, agent, capability, origin, rule, ttl_ms: ttlMs, expires_at: expiresAt };
  return {
    event: 'grant.issued',
    actor: origin === 'human' ? 'operator' : `agent:${agent}`,
    facts: approvalId === undefined ? facts : { ...facts, approval: approvalId },
  };
}
