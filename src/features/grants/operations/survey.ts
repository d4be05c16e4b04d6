// grants ls: what every agent holds now, for a person.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Clock } from '../../../kernel/ports.ts';
import type { Grants } from '../grants.ts';
import { remainingSeconds } from '../model.ts';

const input = z.strictObject({ agent: z.string().optional().describe('Only the grants of this agent.') });

const output = z.array(
  z.strictObject({
    grant_id: z.string(),
    agent: z.string(),
    capability: z.string(),
    origin: z.enum(['policy', 'human']),
    rule: z.string(),
    approval_id: z.string().optional(),
    granted_at: z.string(),
    expires_at: z.string(),
    remaining_seconds: z.int(),
  }),
);

export function surveyOperation({ grants, clock }: { readonly grants: Grants; readonly clock: Clock }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'grants.survey',
    summary: 'List the live grants of every agent, oldest first.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'grants ls' },
    run({ agent }) {
      const now = clock.now();
      return Promise.resolve(
        grants.active(agent).map((grant) => ({
          grant_id: grant.id,
          agent: grant.agent,
          capability: grant.capability,
          origin: grant.origin,
          rule: grant.rule,
          ...(grant.approvalId === undefined ? {} : { approval_id: grant.approvalId }),
          granted_at: new Date(grant.grantedAt).toISOString(),
          expires_at: new Date(grant.expiresAt).toISOString(),
          remaining_seconds: remainingSeconds(grant, now),
        })),
      );
    },
  });
}
