// policy.review: what agents proposed, and what accepting each would change in the policy in force.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { AppError } from '../../../kernel/errors.ts';
import { describeChanges } from '../changes.ts';
import type { PolicyAdmin } from '../policy.ts';
import { ruleOf, type Proposal } from '../proposals/proposal.ts';
import type { ProposalDesk } from '../proposals/proposals.ts';
import { remarksOn } from '../proposals/remarks.ts';
import { withRule } from '../rule-insertion.ts';
import { openingOf } from '../standing.ts';
import { formatTtl } from '../ttl.ts';

export interface ReviewDeps {
  readonly policy: PolicyAdmin;
  readonly proposals: ProposalDesk;
}

/** Each is an edit of the whole text; a longer queue is looked at in parts. */
const mostTried = 50;

const input = z.strictObject({
  all: z.boolean().default(false).describe('Also decided ones, the newest 1,000.'),
});

const row = z.strictObject({
  n: z.number().describe('What you accept or reject.'),
  state: z.enum(['pending', 'accepted', 'rejected', 'withdrawn']),
  agent: z.string(),
  proposed_at: z.string(),
  match: z.string(),
  ttl: z.string().optional(),
  justification: z.string().describe('The agent’s own words.'),
  lint: z.literal('conflicts_with_limits').optional(),
  lint_note: z.string().optional(),
  remarks: z.array(z.string()).optional(),
  changes: z.array(z.string()).optional().describe('What accepting would change; of pending ones, the first 50.'),
  decided_at: z.string().optional(),
  reason: z.string().optional(),
});

const output = z.strictObject({
  proposals: z.array(row),
  blocked: z.string().optional().describe('Why none can be accepted now.'),
});

type Row = z.infer<typeof row>;
type Output = z.infer<typeof output>;

export function reviewOperation({ policy, proposals }: ReviewDeps) {
  return defineOperation<z.infer<typeof input>, Output>({
    name: 'policy.review',
    summary: 'Review the rules that agents proposed, and what accepting each would change.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'policies review', draw },
    async run({ all }) {
      const found = await proposals.list(all ? 'all' : 'pending');
      const standing = policy.standing();
      const opening = openingOf(standing);
      const rows = found.map((proposal, at) =>
        proposal.state === 'pending' ? weighed(proposal, at < mostTried) : plain(proposal),
      );
      if (!opening.open) return { proposals: rows, blocked: opening.reason };
      if (standing.disk.state === 'in_force') return { proposals: rows };
      return { proposals: rows, blocked: 'policies.yaml was edited and is not the policy in force. Run: sallyport policies check' };

      /** As the policy in force sees it now, whatever was said when it was proposed. */
      function weighed(proposal: Proposal, tried: boolean): Row {
        const { lint: _lint, lint_note: _note, ...rest } = plain(proposal);
        if (!opening.open) return plain(proposal);
        const { engine } = opening.adopted;
        const { conflict, others } = remarksOn(engine.agent(proposal.agent), ruleOf(proposal));
        return {
          ...rest,
          ...(conflict !== undefined && { lint: 'conflicts_with_limits' as const, lint_note: conflict }),
          ...(others.length > 0 && { remarks: [...others] }),
          ...(tried && { changes: changesOf(proposal) }),
        };
      }

      function changesOf(proposal: Proposal): string[] {
        if (!opening.open) return [];
        const { text, file } = opening.adopted;
        try {
          return [...describeChanges(file, withRule(text, file, proposal.agent, ruleOf(proposal)).file)];
        } catch (thrown) {
          if (thrown instanceof AppError) return [`${thrown.message} ${thrown.hint ?? ''}`];
          throw thrown;
        }
      }
    },
  });
}

function plain({ n, state, agent, match, ttlMs, justification, conflict, proposedAt, decidedAt, reason }: Proposal): Row {
  return {
    n,
    state,
    agent,
    proposed_at: new Date(proposedAt).toISOString(),
    match,
    ...(ttlMs !== undefined && { ttl: formatTtl(ttlMs) }),
    justification,
    ...(conflict !== undefined && { lint: 'conflicts_with_limits' as const, lint_note: conflict }),
    ...(decidedAt !== undefined && { decided_at: new Date(decidedAt).toISOString() }),
    ...(reason !== undefined && { reason }),
  };
}

function draw({ proposals, blocked }: Output): string {
  if (proposals.length === 0) return 'Nothing waits for you.';
  const texts = proposals.map(({ n, state, agent, proposed_at, match, ttl, justification, lint_note, remarks, changes, reason }) =>
    [
      `${n}  ${state}  ${agent}  ${proposed_at}`,
      `   allow ${match}${ttl === undefined ? '' : ` for ${ttl}`}`,
      `   the agent says: ${justification}`,
      ...(lint_note === undefined ? [] : [`   conflicts with limits: ${lint_note}`]),
      ...(remarks ?? []).map((remark) => `   ${remark}`),
      ...(changes ?? []).map((line) => `   would change: ${line}`),
      ...(reason === undefined ? [] : [`   you said: ${reason}`]),
    ].join('\n'),
  );
  const decide = 'Decide with: sallyport policies accept N, or: sallyport policies reject N --reason TEXT';
  return [...texts, blocked === undefined ? decide : `None can be accepted now: ${blocked}`].join('\n\n');
}
