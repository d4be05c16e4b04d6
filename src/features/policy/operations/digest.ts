// policy.digest: scopegate_policy_summary, an agent's own policy at the start of a session (gate contract).
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Policy } from '../policy.ts';

const input = z.strictObject({});

const output = z.strictObject({
  agentId: z.string().describe('You.'),
  agent_found: z.boolean().describe('Whether the policy has a section for you; without one everything is denied.'),
  default_ttl: z.string().optional().describe('How long a grant lives when neither you nor the rule says.'),
  auto_approve: z.array(z.string()).describe('What is granted without asking. Conditions of a rule follow in brackets.'),
  requires_approval: z.array(z.string()).describe('What a human decides.'),
  deny_globs: z.array(z.string()).describe('Hard limits: do not attempt these in any form.'),
  max_ttl: z.string().optional().describe('No grant lives longer.'),
  approval_ttl: z.string().optional().describe('How long a request to a human stays open.'),
  rate_limit: z.string().optional().describe('How many capabilities you may request.'),
  team: z.null().describe('No team policy is installed.'),
});

export function digestOperation({ policy }: { readonly policy: Policy }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'policy.digest',
    summary: 'Your policy digest for planning at the start of a session (read-only).',
    description:
      'Cache it and plan the whole task with it; ask scopegate_can_i for the specifics. Rules are read in order and the first that covers a call decides; what is missing can be proposed with scopegate_propose_policy.',
    input,
    output,
    effect: 'look',
    access: 'agent',
    tool: { toolset: 'gate', name: 'scopegate_policy_summary', annotations: { readOnlyHint: true } },
    run(_input, { caller }) {
      if (caller.kind !== 'agent') throw new AppError('denied', 'policy.denied', 'Only an agent has a policy digest.');
      const { auto_approve, requires_approval, deny_globs, ...rest } = policy.digest(caller.agent);
      return Promise.resolve({
        ...rest,
        auto_approve: [...auto_approve],
        requires_approval: [...requires_approval],
        deny_globs: [...deny_globs],
      });
    },
  });
}
