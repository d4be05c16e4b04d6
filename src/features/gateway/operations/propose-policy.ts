// scopegate_propose_policy: an agent says which rule it would like, and why. It goes to a person's queue and changes nothing else.
// Shapes and words: gate contract, scopegate_propose_policy.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Proposals } from '../../policy/policy.ts';
import type { RequestDeps } from '../capability-request.ts';

export interface ProposeDeps extends Pick<RequestDeps, 'agents' | 'policy' | 'rate'> {
  readonly proposals: Proposals;
}

const input = z.strictObject(
  {
    match: z
      .string()
      .min(1)
      .max(2_048)
      .describe('The rule’s pattern, <upstream>:<action>:<resource>, e.g. stripe:read:*. Propose the narrowest that does.'),
    ttl: z.string().max(32).optional().describe("How long its grants should live, '<n>s', '<n>m' or '<n>h'."),
    justification: z.string().trim().min(1).max(2_000).describe('Why you need it; the human reads it.'),
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' ? notSettable(issue.keys) : undefined) },
);

const output = z.looseObject({
  queued: z.boolean(),
  deduped: z.boolean(),
  pending_file: z.string(),
  note: z.string(),
});

export function proposePolicy({ proposals, agents, policy, rate }: ProposeDeps) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'gateway.propose-policy',
    summary: 'Propose a policy rule when a capability you need is denied.',
    description:
      'It is checked, deduplicated and put before a HUMAN; it never changes what is in force. Tell the human to run: ' +
      'scopegate policies review, then scopegate policies accept <n> (or reject <n>).',
    input,
    output,
    effect: 'change',
    access: 'agent',
    tool: {
      toolset: 'gate',
      name: 'scopegate_propose_policy',
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    async run(wanted, { caller }) {
      if (caller.kind !== 'agent') throw new AppError('denied', 'gateway.not_reachable', 'Only an agent proposes rules.');
      const { agent } = caller;
      agents.assertActive(agent);
      rate.take(agent, policy.limits(agent).rate);
      const proposed = await proposals.propose(agent, wanted);
      const { n, conflict, reason = '' } = proposed.proposal;
      const said = {
        queued: proposed.kind === 'queued',
        deduped: proposed.kind === 'deduped',
        pending_file: proposals.path,
        proposal: n,
      };
      if (proposed.kind === 'rejected') {
        const retry_after_s = Math.max(1, Math.ceil(proposed.retryAfterMs / 1_000));
        const note = 'A human rejected this proposal. Do not propose the same again; choose another way or talk to the human.';
        return { ...said, status: 'rejected', reason, retry_after_s, note };
      }
      return {
        ...said,
        ...(conflict !== undefined && { lint: 'conflicts_with_limits', lint_note: conflict }),
        ...(proposed.remarks.length > 0 && { remarks: [...proposed.remarks] }),
        note: 'A human must review and merge this into policies.yaml. It has NO effect until then.',
        next_step:
          `Tell the human to run: scopegate policies review, then: scopegate policies accept ${n} ` +
          `(or: scopegate policies reject ${n} --reason TEXT).`,
      };
    },
  });
}

function notSettable([key = '']: readonly string[]): string {
  return `Proposal rejected: field '${key.slice(0, 64)}' is not agent-settable. Give match, ttl and justification; a human decides the rest.`;
}
