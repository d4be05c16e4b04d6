// scopegate_request_capabilities: up to twenty requests in one call, which costs one unit of the rate limit. Each is decided as if it
// had come alone. Shapes: gate contract, scopegate_request_capabilities; nobody waits here, and nothing is run on approval.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import type { AgentCaller } from '../../../kernel/caller.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import {
  grantedShape,
  humanDenialShape,
  pendingShape,
  requestOne,
  type CapabilityRequest,
  type RequestDeps,
  type Shape,
} from '../capability-request.ts';
import { capabilityField, reasonField, ttlField } from './request-capability.ts';

/** Gate contract. */
const mostRequests = 20;
const noReason = 'batch request';

const item = z.strictObject(
  {
    capability: capabilityField,
    ttl: ttlField,
    reason: reasonField.optional().describe(`Why you need it; the human reads it. Default: '${noReason}'.`),
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' ? notInABatch(issue.keys) : undefined) },
);

const input = z.strictObject({
  requests: z.array(item).min(1).max(mostRequests).describe('1 to 20 requests: {capability, ttl?, reason?}, in your order.'),
});

const output = z.looseObject({
  granted: z.union([z.number(), z.literal(false)]).describe('How many were granted; false when the call as a whole was refused.'),
  total: z.number().optional(),
  results: z.array(z.looseObject({ capability: z.string(), granted: z.boolean() })).optional(),
});

export function requestCapabilities(deps: RequestDeps) {
  const { policy, rate, agents, clock } = deps;

  async function answer(caller: AgentCaller, request: CapabilityRequest): Promise<Shape> {
    if (request.capability.trim() === '') return { granted: false, code: 'invalid', reason: 'The capability is empty.' };
    const found = await requestOne(deps, caller, request, { via: 'batch' });
    if (found.kind === 'granted') return grantedShape(request.capability, found.expiresAt, found.rule, clock.now());
    if (found.kind === 'pending') return { ...pendingShape(found.approval), reason: found.verdict.reason };
    if (found.kind === 'denied_by_human') return humanDenialShape(found);
    const { code, reason } = found.verdict;
    return { granted: false, code: code === 'invalid_capability' ? 'invalid' : code, reason };
  }

  /** What only this one runs into is its answer; what stops everything (no record, an agent that is stopped) stops the call. */
  async function settle(caller: AgentCaller, request: CapabilityRequest): Promise<Shape> {
    try {
      return await answer(caller, request);
    } catch (thrown) {
      if (thrown instanceof AppError && thrown.code === 'approvals.too_many') return limited('rate_limited', thrown);
      throw thrown;
    }
  }

  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'gateway.request-capabilities',
    summary: 'Request up to 20 capabilities in one call, with a single rate-limit evaluation.',
    description:
      'Each result has the shape of scopegate_request_capability without its instructions. There is no `wait` and no ' +
      '`execute_on_approval` here; use the single call for those.',
    input,
    output,
    effect: 'change',
    access: 'agent',
    tool: { toolset: 'gate', name: 'scopegate_request_capabilities', annotations: { readOnlyHint: false, destructiveHint: false } },
    async run({ requests }, { caller, signal }) {
      if (caller.kind !== 'agent') throw new AppError('denied', 'gateway.not_reachable', 'Only an agent asks for capabilities.');
      agents.assertActive(caller.agent);
      try {
        rate.take(caller.agent, policy.limits(caller.agent).rate);
      } catch (thrown) {
        if (thrown instanceof AppError && thrown.code === 'gateway.rate_limited') return limited('capability_rate_limited', thrown);
        throw thrown;
      }
      const results: (Shape & { capability: string })[] = [];
      // One after the other: what the first is granted the second holds, and the bound on open approvals is met in this order.
      for (const { capability, ttl, reason = '' } of requests) {
        signal.throwIfAborted();
        const shape = await settle(caller, { capability, ttl, reason: reason === '' ? noReason : reason });
        results.push({ capability, ...shape });
      }
      return { total: results.length, granted: results.filter(({ granted }) => granted).length, results };
    },
  });
}

function limited(code: string, { message, retryAfterMs = 0 }: AppError): { granted: false } & Shape {
  return { granted: false, code, reason: message, retry_after_s: Math.max(1, Math.ceil(retryAfterMs / 1_000)) };
}

function notInABatch(keys: readonly string[]): string {
  const [key = ''] = keys;
  if (key === 'wait' || key === 'timeout_s' || key === 'execute_on_approval')
    return `'${key}' does not work in a batch; use scopegate_request_capability for that one`;
  return `'${key.slice(0, 64)}' is unknown here; a request has capability, ttl and reason`;
}
