// One request for a capability: decided, recorded, and met with a grant, a question to a person or a refusal. The single tool and the
// batch take this one path; how an answer is worded and whether anybody waits is theirs. Knows no rate limit: one call is one unit.
import { AppError } from '../../kernel/errors.ts';
import { actorOf, type AgentCaller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Agents } from '../agents/agents.ts';
import { denialMemoryMs, type Approval } from '../approvals/model.ts';
import type { Audit } from '../audit/audit.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Verdict } from '../policy/model.ts';
import type { OfferingDeps } from './admission.ts';
import { annotationsOf } from './capability-target.ts';
import { heldGrant } from './held-grant.ts';

export interface RequestDeps extends OfferingDeps {
  readonly audit: Audit;
  readonly agents: Agents;
  readonly fleet: Fleet;
  readonly clock: Clock;
}

export interface CapabilityRequest {
  readonly capability: string;
  readonly reason: string;
  readonly ttl?: string | undefined;
}

type Asking = Extract<Verdict, { effect: 'ask' }>;
type Denial = Extract<Verdict, { effect: 'deny' }>;

export type Answer =
  /** `rule` is the contract's `matched_rule`. */
  | { readonly kind: 'granted'; readonly expiresAt: number; readonly rule: string }
  | { readonly kind: 'pending'; readonly approval: Approval; readonly verdict: Asking }
  | { readonly kind: 'denied'; readonly verdict: Denial }
  | HumanDenial;

/** The human's no, given now or within the last ten minutes. */
export interface HumanDenial {
  readonly kind: 'denied_by_human';
  readonly id: string;
  readonly reason: string;
  readonly retryAfterMs: number;
}

/**
 * Idempotent: what is held answers `existing_grant`, what is asked already answers the same approval. `via` says on the record how it
 * came. Throws what the agent's state, the record and the bound on open approvals (`approvals.too_many`) throw.
 */
export async function requestOne(
  deps: RequestDeps,
  caller: AgentCaller,
  { capability, reason, ttl }: CapabilityRequest,
  via: { readonly via?: 'batch' } = {},
): Promise<Answer> {
  const { policy, grants, approvals, agents, audit, fleet } = deps;
  const { agent } = caller;
  agents.assertActive(agent);
  const verdict = policy.decide({
    agent,
    capability,
    ...(ttl === undefined ? {} : { requestedTtl: ttl }),
    ...annotationsOf(fleet, capability),
  });
  if (verdict.effect === 'deny') {
    // Each one: requests are rate limited, so nobody can hide a denial behind a flood of others.
    if (verdict.code !== 'invalid_capability') {
      const facts = { code: verdict.code, ...via };
      audit.append({ event: 'capability.denied', actor: actorOf(caller), facts, sealed: { capability } });
    }
    return { kind: 'denied', verdict };
  }
  audit.append({
    event: 'capability.requested',
    actor: actorOf(caller),
    facts: { capability, effect: verdict.effect, rule: verdict.rule, policy: policy.version(), ...via },
    sealed: { reason },
  });
  const held = heldGrant(grants, agent, capability, verdict);
  if (held !== undefined) return { kind: 'granted', expiresAt: held.expiresAt, rule: 'existing_grant' };
  const { rule, ttlMs } = verdict;
  if (verdict.effect === 'allow') {
    const { expiresAt } = await grants.issue({ agent, capability, origin: 'policy', rule, ttlMs });
    return { kind: 'granted', expiresAt, rule };
  }
  try {
    const { guards } = verdict;
    const approval = await approvals.ask({ agent, origin: 'request', capability, rule, reason, ttlMs, guards });
    return { kind: 'pending', approval, verdict };
  } catch (thrown) {
    if (!(thrown instanceof AppError && thrown.code === 'approvals.denied')) throw thrown;
    const { approval_id: id, reason: words } = thrown.data ?? {};
    return { kind: 'denied_by_human', id: String(id), reason: String(words), retryAfterMs: thrown.retryAfterMs ?? 0 };
  }
}

/** An approval that was asked for and decided meanwhile. */
export function deniedNow({ id, decisionReason = '', decidedAt = 0 }: Approval, now: number): HumanDenial {
  return { kind: 'denied_by_human', id, reason: decisionReason, retryAfterMs: decidedAt + denialMemoryMs - now };
}

/** The fields of the contract page that the single tool and the batch have in common. */
export type Shape = { granted: boolean } & Record<string, unknown>;

export function grantedShape(capability: string, expiresAt: number, rule: string, now: number): Shape {
  const seconds = Math.max(0, Math.floor((expiresAt - now) / 1_000));
  return { granted: true, capability, expires_in_seconds: seconds, matched_rule: rule };
}

export function pendingShape({ id, expiresAt }: Approval): Shape {
  return {
    granted: false,
    status: 'pending_human_approval',
    approval_id: id,
    approval_expires_at: new Date(expiresAt).toISOString(),
  };
}

export function humanDenialShape({ id, reason, retryAfterMs }: HumanDenial): Shape {
  return {
    granted: false,
    status: 'denied',
    approval_id: id,
    reason: reason === '' ? 'A human denied this request.' : reason,
    retry_after_s: Math.max(1, Math.ceil(retryAfterMs / 1_000)),
  };
}
