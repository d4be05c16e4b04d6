// deny: the person's no, with words for the agent.
import { z } from 'zod';
import type { JsonObject } from '../../../kernel/json.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import { formatTtl } from '../../policy/model.ts';
import type { Decisions } from '../decisions.ts';
import { denialMemoryMs } from '../model.ts';
import { approvalId, proofOf, toShown } from '../views.ts';

const input = z.strictObject({
  id: approvalId,
  reason: z.string().trim().max(500).default('').describe('Why; the agent reads it.'),
});

const output = z.strictObject({
  approval_id: z.string(),
  state: z.literal('denied'),
  agent: z.string(),
  capability: z.string(),
  reason: z.string(),
});

export function denyOperation({ approvals }: { readonly approvals: Decisions }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'approvals.deny',
    summary: 'Deny one request; the agent is told your reason.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: { words: 'deny', positionals: ['id'] },

    async shown({ id }): Promise<JsonObject> {
      const approval = await approvals.decidable(id);
      const means = `the agent is told your reason; the same question gets this answer for ${formatTtl(denialMemoryMs)}`;
      return { decision: 'deny', means, ...toShown(approval, approvals.policyVersion()) };
    },

    async run({ id, reason }, context) {
      const { agent, capability } = await approvals.deny(id, reason, proofOf(context));
      return { approval_id: id, state: 'denied', agent, capability, reason };
    },
  });
}
