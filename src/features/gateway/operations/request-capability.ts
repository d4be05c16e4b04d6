// scopegate_request_capability: asks for a grant before privileged work, and waits for the human where the agent wants that.
// Shapes and words: gate contract, scopegate_request_capability.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation, type OperationContext } from '../../../kernel/operation.ts';
import type { Approval } from '../../approvals/model.ts';
import type { Verdict } from '../../policy/model.ts';
import { adviceOn } from '../advice.ts';
import {
  deniedNow,
  grantedShape,
  humanDenialShape,
  pendingShape,
  requestOne,
  type HumanDenial,
  type RequestDeps,
  type Shape,
} from '../capability-request.ts';
import { heldGrant } from '../held-grant.ts';
import { waitForDecision } from '../wait-for-decision.ts';

export type { RequestDeps };

export const capabilityField = z
  .string()
  .max(1_024)
  .describe(
    '<upstream>:<action>:<resource>, e.g. github:call:create_issue. Ask for the minimum; `*` only as a whole segment or at the end.',
  );
export const reasonField = z.string().trim().max(2_000);
export const ttlField = z
  .string()
  .max(16)
  .optional()
  .describe("How long, '<n>s', '<n>m' or '<n>h'; the shortest that does. Default: the ceiling of the rule.");

const input = z.strictObject({
  capability: capabilityField.min(1),
  reason: reasonField.min(1).describe('Why you need it; the human reads it and it lands on the record.'),
  ttl: ttlField,
  wait: z.boolean().optional().describe('Block until the human decided instead of answering pending_human_approval.'),
  timeout_s: z
    .number()
    .optional()
    .describe('With wait: seconds to block, 1 to 120, default 60; without a progress token at most 55.'),
});
type Input = z.infer<typeof input>;

const output = z.looseObject({ granted: z.boolean() });

export function requestCapability(deps: RequestDeps) {
  const { policy, grants, rate, agents, clock } = deps;

  async function wait(agent: string, request: Input, asked: Approval, verdict: Asking, context: OperationContext): Promise<Shape> {
    const decided = await waitForDecision(deps, asked, request.timeout_s, context);
    if (decided.state === 'approved') {
      const grant = heldGrant(grants, agent, request.capability, verdict);
      if (grant !== undefined) {
        const granted = grantedShape(request.capability, grant.expiresAt, 'human_approval', clock.now());
        return { ...granted, via: 'human_approval', approval_id: decided.id };
      }
    }
    if (decided.state === 'denied') return refusedByHuman(deniedNow(decided, clock.now()));
    if (decided.state === 'pending')
      return { ...pending(decided, verdict.reason), status: 'approval_timeout', next_step: keepWaiting };
    const reason = decided.state === 'approved' ? 'What was approved has ended already.' : 'Nobody decided in time.';
    return { granted: false, status: 'expired', approval_id: decided.id, reason, next_step: 'Ask again.' };
  }

  return defineOperation<Input, Shape>({
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
      agents.assertActive(agent);
      rate.take(agent, policy.limits(agent).rate);
      const answer = await requestOne(deps, caller, request);
      if (answer.kind === 'denied') return denied(answer.verdict);
      if (answer.kind === 'denied_by_human') return refusedByHuman(answer);
      if (answer.kind === 'granted') return grantedShape(request.capability, answer.expiresAt, answer.rule, clock.now());
      const { approval, verdict } = answer;
      return request.wait === true ? wait(agent, request, approval, verdict, context) : pending(approval, verdict.reason);
    },
  });
}

type Asking = Extract<Verdict, { effect: 'ask' }>;

const keepWaiting = 'The approval is still pending: call again with the SAME capability to keep waiting.';

function denied(verdict: Extract<Verdict, { effect: 'deny' }>): Shape {
  if (verdict.code === 'invalid_capability') throw new AppError('invalid', 'gateway.misuse', verdict.reason);
  return { granted: false, code: verdict.code, reason: verdict.reason, next_step: adviceOn(verdict) };
}

function pending(approval: Approval, reason: string): Shape {
  return {
    ...pendingShape(approval),
    reason,
    instructions:
      `A human must approve this request. Ask them to run in their terminal: scopegate approve ${approval.id} ` +
      `(or: scopegate deny ${approval.id}). Once approved, call scopegate_request_capability again with the SAME capability — ` +
      'do NOT retry with broader scope.',
    next_step: 'Ask the human to approve this action, or wait for approval.',
  };
}

/** The same words whether the human just said no or said it within the last ten minutes. */
function refusedByHuman(denial: HumanDenial): Shape {
  const next_step = 'Do not ask again for the same thing; choose another way or talk to the human.';
  return { ...humanDenialShape(denial), next_step };
}
