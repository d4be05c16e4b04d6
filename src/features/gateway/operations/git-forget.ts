// git was refused with the token it had, and says so: that one is taken back, and the next question gets another one.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { agentIn, gitQuestion, type GitCredentialDeps, type GitQuestion } from './git-credential.ts';

const output = z.strictObject({ forgotten: z.boolean() });

export function gitForget({ git }: Pick<GitCredentialDeps, 'git'>) {
  return defineOperation<GitQuestion, z.infer<typeof output>>({
    name: 'gateway.git-forget',
    summary: 'Forget the token that git was given for a repository.',
    input: gitQuestion,
    output,
    effect: 'change',
    access: 'agent',
    async run(question, context) {
      const { agent } = agentIn(context);
      git.forget(agent, git.asked(question).asked);
      return { forgotten: true };
    },
  });
}
