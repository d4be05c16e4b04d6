// agents.add: lets an agent in and shows its token, the one time.
import type { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { AgentRegistry } from '../agents.ts';
import { decisionOf, oneAgent } from '../decision.ts';
import { exists } from '../refusals.ts';
import { tokenAnswer, tokenDrawing, tokenOutput } from '../token-answer.ts';

export function addOperation({
  agents,
  agentUrl,
}: {
  readonly agents: AgentRegistry;
  readonly agentUrl: () => string | undefined;
}) {
  return defineOperation<z.infer<typeof oneAgent>, z.infer<typeof tokenOutput>>({
    name: 'agents.add',
    summary: 'Let an agent in and show its token, once.',
    input: oneAgent,
    output: tokenOutput,
    effect: 'change',
    access: 'operator',
    command: { words: 'agent add', positionals: ['name'], draw: tokenDrawing('was added') },
    async shown({ name }) {
      // Said before anybody is asked for a passphrase.
      if (agents.get(name) !== undefined) throw exists(name);
      return { agent: name };
    },
    async run({ name }, context) {
      return tokenAnswer(name, await agents.add(name, decisionOf(context)), agentUrl());
    },
  });
}
