// agents.unsuspend: lets a suspended agent on again; that widens, so it is the operator's.
import type { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { AgentRegistry } from '../agents.ts';
import { agentFacts, agentState, decisionOf, oneAgent } from '../decision.ts';

export function unsuspendOperation({ agents }: { readonly agents: AgentRegistry }) {
  return defineOperation<z.infer<typeof oneAgent>, z.infer<typeof agentState>>({
    name: 'agents.unsuspend',
    summary: 'Let a suspended agent on again.',
    input: oneAgent,
    output: agentState,
    effect: 'change',
    access: 'operator',
    command: {
      words: 'agent unsuspend',
      positionals: ['name'],
      draw: ({ agent }: { agent: string }) => `Agent ${agent} is active again.`,
    },
    shown: async ({ name }) => agentFacts(agents, name),
    async run({ name }, context) {
      await agents.unsuspend(name, decisionOf(context));
      return { agent: name, state: 'active' };
    },
  });
}
