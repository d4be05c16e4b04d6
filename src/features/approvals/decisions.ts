// Yes or no: one commit of the decision, what it buys and its record, then everybody who waits is told. Never decides on its own:
// each call carries the facts of a signature the gateway verified.
import { AppError } from '../../kernel/errors.ts';
import type { Transaction } from '../../kernel/database.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Clock } from '../../kernel/ports.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { Audit, Committed } from '../audit/audit.ts';
import type { AuditEntry } from '../audit/model.ts';
import type { Grants, StagedGrant } from '../grants/grants.ts';
import type { Grant } from '../grants/model.ts';
import { formatTtl, type Limits } from '../policy/model.ts';
import type { Deed, DeedOutcome, FindDeed } from './deed.ts';
import { stateAt, type Approval } from './model.ts';
import type { ApprovalStore } from './store.ts';

/** What only this slice's own operations may do, each with the facts of a verified operator signature. */
export interface Decisions {
  /** The approval if it can be decided now; throws `approvals.not_found`, `approvals.not_pending`, `approvals.expired`. */
  decidable(id: string): Promise<Approval>;
  /** Milliseconds within which a call approved now must start. */
  windowMs(approval: Approval): number;
  /** Throws what the policy in force says against it. */
  stillAsks(approval: Approval): Promise<void>;
  /** The policy version a decision made now would be bound to. */
  policyVersion(): string;
  /** What a yes to it does, where it buys neither a call nor a grant; `undefined` where it does. Throws `approvals.no_deed`. */
  deed(approval: Approval): Promise<Deed | undefined>;
  /** `deed` is the one that was shown. */
  approve(id: string, ttlMs: number | undefined, proof: JsonObject, deed?: Deed): Promise<Bought>;
  deny(id: string, reason: string, proof: JsonObject): Promise<Approval>;
}

/** A call that may be made now has neither. */
export interface Bought {
  readonly approval: Approval;
  readonly grant?: Grant;
  readonly outcome?: DeedOutcome;
}

export interface DecisionPorts {
  readonly audit: Audit;
  readonly clock: Clock;
  readonly grants: Grants;
  readonly limits: (agent: string) => Pick<Limits, 'approvalTtlMs'>;
  readonly policyVersion: () => string;
  /** Throws when the policy in force now denies what the approval would buy, or when its agent may not act. */
  readonly stillAsks: (approval: Approval) => Promise<void> | void;
  readonly findDeed?: FindDeed;
}

interface Desk {
  readonly store: ApprovalStore;
  readonly settle: (approval: Approval) => void;
}

interface Decided {
  readonly approval: Approval;
  readonly staged?: StagedGrant;
}

export function createDecisions(ports: DecisionPorts, { store, settle }: Desk): Decisions {
  const { audit, clock, grants, limits, policyVersion, stillAsks, findDeed } = ports;
  const windowMs = ({ agent }: Approval): number => limits(agent).approvalTtlMs;

  async function decidable(id: string): Promise<Approval> {
    const approval = await store.get(id);
    if (approval === undefined) {
      throw new AppError('not_found', 'approvals.not_found', `There is no approval '${id}'.`, {
        hint: 'List the open ones with: sallyport approvals list.',
      });
    }
    if (stateAt(approval, clock.now()) === 'pending') return approval;
    throw settled(approval, clock.now());
  }

  /** One commit; what it bought is there before whoever waits is woken. In doubt the row is read again, so that nobody waits in vain. */
  async function commit(id: string, work: (tx: Transaction) => Promise<Committed<Decided>>): Promise<Decided> {
    let done: Decided;
    try {
      done = await audit.commit(work, { decision: true });
    } catch (thrown) {
      const row = await store.get(id).catch(() => undefined);
      if (row !== undefined && row.state !== 'pending') settle(row);
      throw thrown;
    }
    done.staged?.publish();
    settle(done.approval);
    return done;
  }

  async function keep(tx: Transaction, approval: Approval, now: number): Promise<void> {
    if (await store.decide(tx, approval, now)) return;
    throw new AppError('conflict', 'approvals.not_pending', `The approval ${approval.id} was decided or expired meanwhile.`, {
      hint: `See what became of it: sallyport approvals show ${approval.id}`,
    });
  }

  /** The decision and what the deed writes are one commit; what the deed does outside comes after it. */
  async function carryOut(asked: Approval, version: string, proof: JsonObject, deed: Deed): Promise<Bought> {
    let approval = asked;
    const outcome = await deed.carryOut(proof, async (stage) => {
      const decided = await commit(asked.id, async (tx) => {
        const now = clock.now();
        const approved: Approval = { ...asked, state: 'approved', decidedAt: now, policyVersion: version, proof };
        await keep(tx, approved, now);
        const entries = [recordOf('approval.approved', approved, { policy: version }), ...(await stage(tx))];
        return { value: { approval: approved }, entries };
      });
      ({ approval } = decided);
    });
    return { approval, outcome };
  }

  return {
    decidable,
    windowMs,
    policyVersion,
    stillAsks: async (approval) => stillAsks(approval),
    deed: async (approval) => (approval.origin === 'registration' ? ((await findDeed?.(approval)) ?? noDeed(approval)) : undefined),

    async approve(id, ttlMs, proof, deed) {
      const asked = await decidable(id);
      const granted = shortened(asked, ttlMs);
      // Read before the policy is asked: should another text come into force meanwhile, the approval is bound to the old one.
      const version = policyVersion();
      await stillAsks(asked);
      if (asked.origin === 'registration') return carryOut(asked, version, proof, deed ?? noDeed(asked));
      const { approval, staged } = await commit(id, async (tx) => {
        const now = clock.now();
        const approval: Approval = {
          ...asked,
          ...(asked.origin === 'call' && { usableUntil: now + windowMs(asked) }),
          state: 'approved',
          decidedAt: now,
          policyVersion: version,
          proof,
        };
        await keep(tx, approval, now);
        const entry = recordOf('approval.approved', approval, { ttl_ms: granted, policy: version });
        if (asked.origin === 'call') return { value: { approval }, entries: [entry] };
        const { agent, capability, rule, guards } = asked;
        const staged = await grants.stage(tx, {
          agent,
          capability,
          origin: 'human',
          rule,
          approvalId: id,
          ttlMs: granted,
          ...(guards.length > 0 && { guards }),
        });
        return { value: { approval, staged }, entries: [entry, staged.entry] };
      });
      return staged === undefined ? { approval } : { approval, grant: staged.grant };
    },

    async deny(id, reason, proof) {
      const asked = await decidable(id);
      const { approval } = await commit(id, async (tx) => {
        const now = clock.now();
        const approval: Approval = { ...asked, state: 'denied', decidedAt: now, decisionReason: reason, proof };
        await keep(tx, approval, now);
        return { value: { approval }, entries: [recordOf('approval.denied', approval, {}, { decision_reason: reason })] };
      });
      return approval;
    },
  };
}

/** The ttl a grant will have. Throws `approvals.bad_ttl` (kind invalid) for a longer one, and for a call, which has none. */
export function shortened({ origin, ttlMs }: Approval, wanted: number | undefined): number {
  if (wanted === undefined) return ttlMs;
  if (origin !== 'request') {
    const what = origin === 'call' ? 'buys one execution' : 'registers an upstream';
    throw new AppError('invalid', 'approvals.bad_ttl', `This approval ${what}, which has no ttl to shorten.`, {
      hint: 'Leave --ttl out.',
    });
  }
  if (wanted <= ttlMs) return wanted;
  throw new AppError('invalid', 'approvals.bad_ttl', `--ttl only shortens: ${formatTtl(ttlMs)} was asked for.`, {
    hint: `Leave --ttl out, or give less than ${formatTtl(ttlMs)}. For more, the agent has to ask again.`,
  });
}

function noDeed({ id }: Approval): never {
  throw new AppError('internal', 'approvals.no_deed', `Nothing here knows how to do what the approval ${id} is about.`);
}

function settled(approval: Approval, now: number): AppError {
  const { id, state, decidedAt, expiresAt } = approval;
  if (stateAt(approval, now) === 'expired') {
    const at = new Date(expiresAt).toISOString();
    return new AppError('conflict', 'approvals.expired', `The approval ${id} expired at ${at}; it cannot be decided any more.`, {
      hint: 'The agent has to ask again.',
    });
  }
  const at = new Date(decidedAt ?? expiresAt).toISOString();
  return new AppError('conflict', 'approvals.not_pending', `The approval ${id} was ${state} at ${at} already.`, {
    hint: `See it with: sallyport approvals show ${id}`,
  });
}

function recordOf(event: AuditEntry['event'], approval: Approval, more: JsonObject, sealed?: AuditEntry['sealed']): AuditEntry {
  const { id, agent, capability, origin, toolHash, args, proof = {} } = approval;
  const facts = { approval: id, agent, capability, origin, ...more, proof };
  return {
    event,
    actor: 'operator',
    facts: toolHash === undefined ? facts : { ...facts, tool_hash: toolHash },
    sealed: { ...sealed, ...(args === undefined ? {} : { args: canonicalJson(args) }) },
  };
}
