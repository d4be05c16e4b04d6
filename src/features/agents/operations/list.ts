// agents.list: who there is and in which state. Never a token, nor a hash of one.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Agents } from '../agents.ts';

const input = z.strictObject({});

const output = z.array(
  z.strictObject({
    name: z.string(),
    state: z.enum(['active', 'suspended', 'revoked', 'locked']),
    created_at: z.string(),
    rotated_at: z.string().optional(),
    reason: z.string().optional(),
  }),
);

export function listOperation({ agents }: { readonly agents: Agents }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'agents.list',
    summary: 'List the agents and their states.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'agent ls' },
    run: async () =>
      agents.list().map(({ name, state, createdAt, rotatedAt, reason }) => ({
        name,
        state,
        created_at: createdAt,
        ...(rotatedAt !== undefined && { rotated_at: rotatedAt }),
        ...(reason !== undefined && { reason }),
      })),
  });
}
