// policy.reject: the operator closes one proposal, with words for the agent. It takes the signature too: an agent with a shell must not
// silence another.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import { wordsOf } from '../proposals/acceptance.ts';
import { rejectionMemoryMs } from '../proposals/proposal.ts';
import type { ProposalDesk } from '../proposals/proposals.ts';
import { formatTtl } from '../ttl.ts';
import { proposalNumber } from './accept.ts';

const input = z.strictObject({
  n: proposalNumber,
  reason: z.string().trim().min(1).max(500).describe('Why; the agent reads it when it proposes the same again.'),
});

const output = z.strictObject({ rejected: z.number(), agent: z.string(), match: z.string(), reason: z.string() });

export function rejectOperation({ proposals }: { readonly proposals: ProposalDesk }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'policy.reject',
    summary: 'Reject one proposed rule; the agent is told your reason.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: { words: 'policies reject', positionals: ['n'] },

    async shown({ n }) {
      const proposal = await proposals.pending(n);
      const { agent, match, ttlMs } = proposal;
      return {
        decision: 'reject',
        means: `nothing changes; the same proposal gets this answer for ${formatTtl(rejectionMemoryMs)}`,
        proposal: n,
        agent,
        match,
        ttl: ttlMs === undefined ? 'the default' : formatTtl(ttlMs),
        ...wordsOf(proposal),
      };
    },

    async run({ n, reason }, { proofFacts }) {
      if (proofFacts === undefined)
        throw new AppError('denied', 'operator.proof_required', 'Rejecting a proposal needs the operator’s signature.');
      const { agent, match } = await proposals.reject(n, reason, proofFacts);
      return { rejected: n, agent, match, reason };
    },
  });
}
