// approve: the person's yes. What is signed is everything the decision stands on, in the words of what it buys.
import { z } from 'zod';
import type { JsonObject } from '../../../kernel/json.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import { formatTtl, parseTtl } from '../../policy/model.ts';
import type { Deed } from '../deed.ts';
import { shortened, type Decisions } from '../decisions.ts';
import { purchase } from '../model.ts';
import { approvalId, proofOf, toShown } from '../views.ts';

const input = z.strictObject({
  id: approvalId,
  ttl: z.string().max(16).optional().describe("A shorter life for the grant, '<n>s', '<n>m' or '<n>h'; it only shortens."),
});

const output = z.strictObject({
  approval_id: z.string(),
  state: z.literal('approved'),
  agent: z.string(),
  capability: z.string(),
  grant_id: z.string().optional(),
  expires_at: z.string().optional().describe('When the grant ends.'),
  usable_until: z.string().optional().describe('Before this the approved call must start.'),
  outcome: z.string().optional().describe('How it went, where the approval itself does something.'),
});

export function approveOperation({ approvals }: { readonly approvals: Decisions }) {
  /** What is done is what was shown for the very same input. */
  const deeds = new WeakMap<z.infer<typeof input>, Deed>();
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'approvals.approve',
    summary: 'Approve one request: the exact call once, the grant for its ttl, or the upstream it registers.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: { words: 'approve', positionals: ['id'] },

    async shown(given): Promise<JsonObject> {
      const { id, ttl } = given;
      const approval = await approvals.decidable(id);
      const ttlMs = shortened(approval, parsed(ttl));
      await approvals.stillAsks(approval);
      const deed = await approvals.deed(approval);
      if (deed !== undefined) deeds.set(given, deed);
      return {
        decision: 'approve',
        buys: purchase(approval, ttlMs, approvals.windowMs(approval)),
        ...deed?.shown,
        ...(approval.origin === 'request' && { ttl: formatTtl(ttlMs) }),
        ...toShown(approval, approvals.policyVersion()),
      };
    },

    async run(given, context) {
      const { id, ttl } = given;
      const { approval, grant, outcome } = await approvals.approve(id, parsed(ttl), proofOf(context), deeds.get(given));
      const { agent, capability, usableUntil } = approval;
      return {
        approval_id: id,
        state: 'approved',
        agent,
        capability,
        ...(grant && { grant_id: grant.id, expires_at: new Date(grant.expiresAt).toISOString() }),
        ...(usableUntil !== undefined && { usable_until: new Date(usableUntil).toISOString() }),
        ...(outcome && { outcome: outcome.told }),
      };
    },
  });
}

function parsed(ttl: string | undefined): number | undefined {
  return ttl === undefined ? undefined : parseTtl(ttl);
}
