// agents.suspend: stops an agent at once. It only narrows, so whoever reaches the local socket may; lifting it takes the operator.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { AgentRegistry } from '../agents.ts';
import { agentState, decisionOf, nameInput } from '../decision.ts';

const input = z.strictObject({
  name: nameInput,
  reason: z
    .string()
    .min(1)
    .max(500)
    .regex(/^\P{Cc}*$/u, 'A reason is one line without control characters.')
    .optional()
    .describe('Why, for whoever decides to lift it.'),
});

export function suspendOperation({ agents }: { readonly agents: AgentRegistry }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof agentState>>({
    name: 'agents.suspend',
    summary: 'Stop an agent at once, until the operator lifts it.',
    input,
    output: agentState,
    effect: 'change',
    access: 'local',
    command: {
      words: 'agent suspend',
      positionals: ['name'],
      draw: ({ agent }: { agent: string }) => `Agent ${agent} is suspended. Lift it with: sallyport agent unsuspend ${agent}`,
    },
    async run({ name, reason }, context) {
      await agents.suspend(name, reason, decisionOf(context));
      return { agent: name, state: 'suspended' };
    },
  });
}
