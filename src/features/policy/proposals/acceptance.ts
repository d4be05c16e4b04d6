// What accepting a proposal would do to the policy in force: the text that results, and what a person reads and signs about it.
import { AppError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { lineDifference } from '../../../lib/line-difference.ts';
import { printable } from '../../../lib/printable.ts';
import { describeChanges } from '../changes.ts';
import { withRule } from '../rule-insertion.ts';
import { openingOf, type Adopted, type Standing } from '../standing.ts';
import { formatTtl } from '../ttl.ts';
import { provablyNarrower } from '../widening.ts';
import { ruleOf, type Proposal } from './proposal.ts';
import { remarksOn } from './remarks.ts';

export interface Acceptance {
  readonly proposal: Proposal;
  readonly ttlMs: number | undefined;
  /** Version of the text it is made from; it counts for no other. */
  readonly from: string;
  readonly text: string;
  readonly shown: JsonObject;
}

/**
 * Pure. Throws `policy.locked` while everything is denied, `policy.not_pending`, `policy.not_editable`, and `policy.bad_ttl` for a
 * `shorterMs` that is longer than what was proposed.
 */
export function acceptanceOf(
  standing: Standing,
  proposal: Proposal,
  shorterMs: number | undefined,
  hash: (text: string) => string,
): Acceptance {
  const { version, text: before, file, engine } = inForce(standing);
  const { agent, match } = proposal;
  const rule = ruleOf(proposal, shorterMs);
  const { text, file: after } = withRule(before, file, agent, rule);
  const { conflict, others } = remarksOn(engine.agent(agent), rule);
  const comparison = provablyNarrower(file, after);
  return {
    proposal,
    ttlMs: rule.ttlMs,
    from: version,
    text,
    shown: {
      decision: 'accept',
      proposal: proposal.n,
      agent,
      match,
      ttl: rule.ttlMs === undefined ? 'the default' : formatTtl(rule.ttlMs),
      ...wordsOf(proposal),
      ...(conflict !== undefined && { conflicts_with_limits: conflict }),
      ...(others.length > 0 && { remarks: others.join('\n') }),
      changes: describeChanges(file, after).join('\n'),
      ...(!comparison.narrower && { wider: comparison.changes.join('\n') }),
      policies_yaml: lineDifference(before, text).join('\n'),
      from: version,
      to: hash(text),
    },
  };
}

/** The agent's words, marked as such and made harmless. */
export function wordsOf({ justification, proposedAt }: Proposal): JsonObject {
  return { agent_says: `“${printable(justification)}”`, proposed_at: new Date(proposedAt).toISOString() };
}

/** Throws `policy.locked` (kind unavailable): what is denied whole cannot be added to. */
function inForce(standing: Standing): Adopted {
  const opening = openingOf(standing);
  if (opening.open) return opening.adopted;
  throw new AppError('unavailable', 'policy.locked', opening.reason, { hint: 'Run: sallyport policies check' });
}
