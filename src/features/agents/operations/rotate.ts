// agents.rotate: a new token; the old one is unknown at once and sessions made with it end.
import type { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { AgentRegistry } from '../agents.ts';
import { agentFacts, decisionOf, oneAgent } from '../decision.ts';
import { tokenAnswer, tokenDrawing, tokenOutput } from '../token-answer.ts';

export function rotateOperation({
  agents,
  agentUrl,
}: {
  readonly agents: AgentRegistry;
  readonly agentUrl: () => string | undefined;
}) {
  return defineOperation<z.infer<typeof oneAgent>, z.infer<typeof tokenOutput>>({
    name: 'agents.rotate',
    summary: 'Give an agent a new token, shown once; the old one and its sessions end.',
    input: oneAgent,
    output: tokenOutput,
    effect: 'change',
    access: 'operator',
    command: { words: 'agent rotate', positionals: ['name'], draw: tokenDrawing('has a new token') },
    shown: async ({ name }) => agentFacts(agents, name),
    async run({ name }, context) {
      return tokenAnswer(name, await agents.rotate(name, decisionOf(context)), agentUrl());
    },
  });
}
