// agents.remove: takes an agent out, whatever its state, and frees its name.
import type { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { AgentRegistry } from '../agents.ts';
import { agentFacts, agentState, decisionOf, oneAgent } from '../decision.ts';

export function removeOperation({ agents }: { readonly agents: AgentRegistry }) {
  return defineOperation<z.infer<typeof oneAgent>, z.infer<typeof agentState>>({
    name: 'agents.remove',
    summary: 'Remove an agent and free its name.',
    input: oneAgent,
    output: agentState,
    effect: 'change',
    access: 'operator',
    command: {
      words: 'agent rm',
      positionals: ['name'],
      draw: ({ agent }: { agent: string }) => `Agent ${agent} is removed; its sessions have ended.`,
    },
    shown: async ({ name }) => agentFacts(agents, name),
    async run({ name }, context) {
      await agents.remove(name, decisionOf(context));
      return { agent: name, state: 'removed' };
    },
  });
}
