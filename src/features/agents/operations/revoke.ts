// agents.revoke: ends an agent's access for good; its name stays taken, so that the record stays clear.
import type { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { AgentRegistry } from '../agents.ts';
import { agentFacts, agentState, decisionOf, oneAgent } from '../decision.ts';

export function revokeOperation({ agents }: { readonly agents: AgentRegistry }) {
  return defineOperation<z.infer<typeof oneAgent>, z.infer<typeof agentState>>({
    name: 'agents.revoke',
    summary: 'End an agent’s access for good; its name stays taken.',
    input: oneAgent,
    output: agentState,
    effect: 'change',
    access: 'operator',
    command: {
      words: 'agent revoke',
      positionals: ['name'],
      draw: ({ agent }: { agent: string }) => `Agent ${agent} is revoked; its sessions have ended.`,
    },
    shown: async ({ name }) => agentFacts(agents, name),
    async run({ name }, context) {
      await agents.revoke(name, decisionOf(context));
      return { agent: name, state: 'revoked' };
    },
  });
}
