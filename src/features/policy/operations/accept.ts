// policy.accept: the operator puts one proposed rule in force. What is signed is the resulting text, by its hash and its difference.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Acceptance } from '../proposals/acceptance.ts';
import type { ProposalDesk } from '../proposals/proposals.ts';
import { createShownOnce } from '../shown-once.ts';
import { parseTtl } from '../ttl.ts';

export const proposalNumber = z.number().int().min(1).max(2_147_483_647).describe('Its number, from policies review.');

const input = z.strictObject({
  n: proposalNumber,
  ttl: z.string().max(16).optional().describe("A shorter ttl for the rule, '<n>s', '<n>m' or '<n>h'; it only shortens."),
});

const output = z.strictObject({
  accepted: z.number(),
  agent: z.string(),
  match: z.string(),
  version: z.string().describe('SHA-256 of the text now in force.'),
});

export function acceptOperation({ proposals }: { readonly proposals: ProposalDesk }) {
  const shownOnce = createShownOnce<Acceptance>();

  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'policy.accept',
    summary: 'Accept one proposed rule: add it to policies.yaml and put that in force.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: { words: 'policies accept', positionals: ['n'] },

    async shown({ n, ttl }, { caller }) {
      const acceptance = await proposals.acceptance(n, ttl === undefined ? undefined : parseTtl(ttl));
      shownOnce.keep(caller, acceptance);
      return acceptance.shown;
    },

    async run({ n }, context) {
      const { shown: acceptance, proof } = shownOnce.take(context);
      const { version } = await proposals.accept(acceptance, proof);
      const { agent, match } = acceptance.proposal;
      return { accepted: n, agent, match, version };
    },
  });
}
