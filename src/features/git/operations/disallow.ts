// git disallow: no tokens for an account any more. It only narrows, so whoever reaches the local socket may.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { decisionOf } from '../decision.ts';
import { accountIn } from '../entry-text.ts';
import type { GitKeeping } from '../git.ts';
import { entryName } from '../model.ts';

const input = z.strictObject({ account: z.string().min(1).max(300).describe('As it stands in: sallyport git ls') });
const output = z.strictObject({ disallowed: z.string() });

export function disallowOperation({ git }: { readonly git: GitKeeping }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'git.disallow',
    summary: 'Give git no tokens for repositories of an account any more, and take back those it has.',
    input,
    output,
    effect: 'change',
    access: 'local',
    command: {
      words: 'git disallow',
      positionals: ['account'],
      draw: ({ disallowed }: { disallowed: string }) => `git is given no tokens for ${disallowed} any more.`,
    },
    async run({ account }, context) {
      const entry = accountIn(account);
      await git.disallow(entry, decisionOf(context));
      return { disallowed: entryName(entry) };
    },
  });
}
