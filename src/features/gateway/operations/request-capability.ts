// scopegate_request_capability: asks for a grant before privileged work, and waits for the human where the agent wants that.
// Shapes and words: gate contract, scopegate_request_capability.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation, type OperationContext } from '../../../kernel/operation.ts';
import type { Clock } from '../../../kernel/ports.ts';
import { actorOf } from '../../../kernel/caller.ts';
import type { Agents } from '../../agents/agents.ts';
import { denialMemoryMs, type Approval } from '../../approvals/model.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { Verdict } from '../../policy/model.ts';
import type { OfferingDeps } from '../admission.ts';
import { adviceOn } from '../advice.ts';
import { annotationsOf } from '../capability-target.ts';
import { heldGrant } from '../held-grant.ts';
import { waitForDecision } from '../wait-for-decision.ts';

export interface RequestDeps extends OfferingDeps {
  readonly audit: Audit;
  readonly agents: Agents;
  readonly fleet: Fleet;
  readonly clock: Clock;
}

const input = z.strictObject({
  capability: z
    .string()
    .min(1)
    .max(1_024)
    .describe(
      '<upstream>:<action>:<resource>, e.g. github:call:create_issue. Ask for the minimum; `*` only as a whole segment or at the end.',
    ),
  reason: z.string().trim().min(1).max(2_000).describe('Why you need it; the human reads it and it lands on the record.'),
  ttl: z
    .string()
    .max(16)
    .optional()
    .describe("How long, '<n>s', '<n>m' or '<n>h'; the shortest that does. Default: the ceiling of the rule."),
  wait: z.boolean().optional().describe('Block until the human decided instead of answering pending_human_approval.'),
  timeout_s: z
    .number()
    .optional()
    .describe('With wait: seconds to block, 1 to 120, default 60; without a progress token at most 55.'),
});
type Input = z.infer<typeof input>;

const output = z.looseObject({ granted: z.boolean() });
type Output = z.infer<typeof output>;

export function requestCapability(deps: RequestDeps) {
  const { policy, grants, approvals, rate, agents, audit, fleet, clock } = deps;

  function granted(capability: string, expiresAt: number, rule: string, more: object = {}): Output {
    const seconds = Math.max(0, Math.floor((expiresAt - clock.now()) / 1_000));
    return { granted: true, capability, expires_in_seconds: seconds, matched_rule: rule, ...more };
  }

  function denied(agent: string, capability: string, verdict: Extract<Verdict, { effect: 'deny' }>): Output {
    if (verdict.code === 'invalid_capability') throw new AppError('invalid', 'gateway.misuse', verdict.reason);
    // Each one: requests are rate limited, so nobody can hide a denial behind a flood of others.
    audit.append({
      event: 'capability.denied',
      actor: `agent:${agent}`,
      facts: { code: verdict.code },
      sealed: { capability },
    });
    return { granted: false, code: verdict.code, reason: verdict.reason, next_step: adviceOn(verdict) };
  }

  async function escalate(agent: string, request: Input, verdict: Extract<Verdict, { effect: 'ask' }>, context: OperationContext) {
    let approval: Approval;
    try {
      const { rule, ttlMs, guards } = verdict;
      const { capability, reason } = request;
      approval = await approvals.ask({ agent, origin: 'request', capability, rule, reason, ttlMs, guards });
    } catch (thrown) {
      if (!(thrown instanceof AppError && thrown.code === 'approvals.denied')) throw thrown;
      const { approval_id: id, reason } = thrown.data ?? {};
      return refusedByHuman(String(id), String(reason), thrown.retryAfterMs ?? 0);
    }
    if (request.wait !== true) return pending(approval, verdict.reason);
    const decided = await waitForDecision(deps, approval, request.timeout_s, context);
    if (decided.state === 'approved') {
      const grant = heldGrant(grants, agent, request.capability, verdict);
      const more = { via: 'human_approval', approval_id: decided.id };
      if (grant !== undefined) return granted(request.capability, grant.expiresAt, 'human_approval', more);
    }
    if (decided.state === 'denied') {
      const remembered = (decided.decidedAt ?? 0) + denialMemoryMs - clock.now();
      return refusedByHuman(decided.id, decided.decisionReason ?? '', remembered);
    }
    if (decided.state === 'pending')
      return { ...pending(decided, verdict.reason), status: 'approval_timeout', next_step: keepWaiting };
    const reason = decided.state === 'approved' ? 'What was approved has ended already.' : 'Nobody decided in time.';
    return { granted: false, status: 'expired', approval_id: decided.id, reason, next_step: 'Ask again.' };
  }

  return defineOperation<Input, Output>({
    name: 'gateway.request-capability',
    summary: 'Request an ephemeral grant before privileged work.',
    description:
      'Ask for the minimum scope and the shortest ttl. Answers `granted`, `pending_human_approval` (relay the exact command to the human, ' +
      'then ask again with the SAME capability) or a denial with a code. With `wait: true` the call blocks until the human decided.',
    input,
    output,
    effect: 'change',
    access: 'agent',
    tool: { toolset: 'gate', name: 'scopegate_request_capability', annotations: { readOnlyHint: false, destructiveHint: false } },
    async run(request, context) {
      const { caller } = context;
      if (caller.kind !== 'agent') throw new AppError('denied', 'gateway.not_reachable', 'Only an agent asks for capabilities.');
      const { agent } = caller;
      const { capability, ttl } = request;
      agents.assertActive(agent);
      rate.take(agent, policy.limits(agent).rate);
      const annotations = annotationsOf(fleet, capability);
      const verdict = policy.decide({ agent, capability, ...(ttl === undefined ? {} : { requestedTtl: ttl }), ...annotations });
      if (verdict.effect === 'deny') return denied(agent, capability, verdict);
      audit.append({
        event: 'capability.requested',
        actor: actorOf(caller),
        facts: { capability, effect: verdict.effect, rule: verdict.rule, policy: policy.version() },
        sealed: { reason: request.reason },
      });
      const held = heldGrant(grants, agent, capability, verdict);
      if (held !== undefined) return granted(capability, held.expiresAt, 'existing_grant');
      if (verdict.effect === 'ask') return escalate(agent, request, verdict, context);
      const { rule, ttlMs } = verdict;
      const grant = await grants.issue({ agent, capability, origin: 'policy', rule, ttlMs });
      return granted(capability, grant.expiresAt, rule);
    },
  });
}

const keepWaiting = 'The approval is still pending: call again with the SAME capability to keep waiting.';

function pending(approval: Approval, reason: string): Output {
  return {
    granted: false,
    status: 'pending_human_approval',
    approval_id: approval.id,
    approval_expires_at: new Date(approval.expiresAt).toISOString(),
    reason,
    instructions:
      `A human must approve this request. Ask them to run in their terminal: scopegate approve ${approval.id} ` +
      `(or: scopegate deny ${approval.id}). Once approved, call scopegate_request_capability again with the SAME capability — ` +
      'do NOT retry with broader scope.',
    next_step: 'Ask the human to approve this action, or wait for approval.',
  };
}

/** The same words whether the human just said no or said it within the last ten minutes. */
function refusedByHuman(id: string, reason: string, retryAfterMs: number): Output {
  return {
    granted: false,
    status: 'denied',
    approval_id: id,
    reason: reason === '' ? 'A human denied this request.' : reason,
    retry_after_s: Math.max(1, Math.ceil(retryAfterMs / 1_000)),
    next_step: 'Do not ask again for the same thing; choose another way or talk to the human.',
  };
}
