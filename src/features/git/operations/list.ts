// git ls: whose repositories git may be given tokens for.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { GitKeeping } from '../git.ts';
import { accesses, appFacts, entryName } from '../model.ts';

const input = z.strictObject({});
const output = z.array(
  z.strictObject({
    account: z.string(),
    access: z.enum(accesses),
    app_id: z.string(),
    installation_id: z.string(),
    secret_ref: z.string(),
    api_url: z.string().optional(),
  }),
);

export function listOperation({ git }: { readonly git: Pick<GitKeeping, 'entries'> }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'git.list',
    summary: 'List the accounts whose repositories git may be given tokens for.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'git ls' },
    run: async () => git.entries().map((entry) => ({ account: entryName(entry), access: entry.access, ...appFacts(entry.app) })),
  });
}
