// scopegate_can_i: what would be decided, with no side effect at all: nothing issued, queued or recorded; answers without a log.
// Shapes: gate contract, scopegate_can_i.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { Grants } from '../../grants/grants.ts';
import type { Policy } from '../../policy/policy.ts';
import { adviceOn } from '../advice.ts';
import { annotationsOf } from '../capability-target.ts';
import { heldGrant } from '../held-grant.ts';

const input = z.strictObject({
  capability: z.string().min(1).max(1_024).describe('The capability you may want later, <upstream>:<action>:<resource>.'),
  ttl: z.string().max(16).optional().describe("A ttl you would ask for, '<n>s', '<n>m' or '<n>h'."),
});

const output = z.looseObject({ capability: z.string(), decision: z.enum(['allow', 'needs_approval', 'deny']) });

export function canI({ policy, grants, fleet }: { readonly policy: Policy; readonly grants: Grants; readonly fleet: Fleet }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'gateway.can-i',
    summary: 'Read-only policy preflight: would this capability be allowed, need a human, or be denied?',
    description: 'Plan a task with it instead of learning from denials. Zero side effects.',
    input,
    output,
    effect: 'look',
    access: 'agent',
    tool: {
      toolset: 'gate',
      name: 'scopegate_can_i',
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    run({ capability, ttl }, { caller }) {
      if (caller.kind !== 'agent')
        throw new AppError('denied', 'gateway.not_reachable', 'Only an agent has a policy to ask about.');
      const { agent } = caller;
      const verdict = policy.decide({
        agent,
        capability,
        ...(ttl === undefined ? {} : { requestedTtl: ttl }),
        ...annotationsOf(fleet, capability),
      });
      if (verdict.effect === 'deny') {
        if (verdict.code === 'invalid_capability') throw new AppError('invalid', 'gateway.misuse', verdict.reason);
        const { code, hard, reason, rule } = verdict;
        const recommended_next = adviceOn(verdict);
        return Promise.resolve({
          capability,
          decision: 'deny',
          code,
          hard,
          ...(rule === undefined ? {} : { rule }),
          reason,
          recommended_next,
        });
      }
      const { rule, reason, ttlMs: ttl_ms } = verdict;
      const held = heldGrant(grants, agent, capability, verdict) !== undefined;
      const covered = held ? { covered_by_existing_grant: true } : {};
      if (verdict.effect === 'ask' && !held) {
        const recommended_next = 'Plan for a human approval — request it before you need it, with wait: true where you can block.';
        return Promise.resolve({
          capability,
          decision: 'needs_approval',
          via: 'local_policy',
          rule,
          ttl_ms,
          reason,
          recommended_next,
        });
      }
      const recommended_next = held
        ? 'Proceed — you hold it already: call the tool directly.'
        : 'Proceed — call scopegate_request_capability (or the tool directly).';
      return Promise.resolve({ capability, decision: 'allow', ttl_ms, rule, reason, ...covered, recommended_next });
    },
  });
}
