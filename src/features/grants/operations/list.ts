// scopegate_list_capabilities: what the agent holds now. Shape: gate contract, scopegate_list_capabilities.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Clock } from '../../../kernel/ports.ts';
import type { Grants } from '../grants.ts';
import { remainingSeconds } from '../model.ts';

const input = z.strictObject({});

const output = z.strictObject({
  agentId: z.string(),
  active_grants: z.array(z.strictObject({ id: z.uuid(), capability: z.string(), remaining_seconds: z.int().min(0) })),
});

export function listOperation({ grants, clock }: { readonly grants: Grants; readonly clock: Clock }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'grants.list',
    summary: 'List your active (non-expired) grants with remaining TTL. No arguments.',
    input,
    output,
    effect: 'look',
    access: 'agent',
    tool: {
      toolset: 'gate',
      name: 'scopegate_list_capabilities',
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    run(_, { caller }) {
      if (caller.kind !== 'agent') throw new AppError('denied', 'grants.not_an_agent', 'Only an agent holds grants of its own.');
      const now = clock.now();
      const active_grants = grants
        .active(caller.agent)
        .map((grant) => ({ id: grant.id, capability: grant.capability, remaining_seconds: remainingSeconds(grant, now) }));
      return Promise.resolve({ agentId: caller.agent, active_grants });
    },
  });
}
