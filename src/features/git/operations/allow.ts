// git allow: tokens for the repositories of one more account. That widens, so it is the operator's.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { authSchema, secretRef } from '../../auth/model.ts';
import { decisionOf } from '../decision.ts';
import { accountIn } from '../entry-text.ts';
import type { GitKeeping } from '../git.ts';
import { accesses, appFacts, entryName, type GitEntry } from '../model.ts';
import { badEntry } from '../refusals.ts';

const input = z.strictObject({
  account: z.string().min(1).max(300).describe('Host and account, such as github.com/acme.'),
  app_id: z.string().describe('The App ID or Client ID of the GitHub App.'),
  installation_id: z.string().describe('Of the app in that account: the number at the end of the URL of the installation.'),
  secret_ref: secretRef.describe('The secret with the private key of the app.'),
  api_url: z
    .string()
    .optional()
    .describe('Of an enterprise server, such as https://ghe.acme.example/api/v3; default: that of github.com.'),
  access: z.enum(accesses).default('read').describe('To what is in a repository: read to clone and fetch, write to push.'),
});
type Input = z.infer<typeof input>;
const output = z.strictObject({ allowed: z.string() });

export function allowOperation({ git }: { readonly git: GitKeeping }) {
  return defineOperation<Input, z.infer<typeof output>>({
    name: 'git.allow',
    summary: 'Let git have short-lived tokens for repositories of an account; each is for one repository and is decided.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: {
      words: 'git allow',
      positionals: ['account'],
      draw: ({ allowed }: { allowed: string }) =>
        `git may be given tokens for repositories of ${allowed}; rules say to whom: git:credential:${allowed}/*`,
    },
    async shown(given) {
      const { app, access, ...account } = entryOf(given);
      return { account: entryName(account), access, app: appFacts(app), entered_already: git.entries().map(entryName) };
    },
    async run(given, context) {
      const entry = entryOf(given);
      await git.allow(entry, decisionOf(context));
      return { allowed: entryName(entry) };
    },
  });
}

/** Held to what an entry of an upstream for the same app is held to. */
function entryOf({
  account,
  app_id: appId,
  installation_id: installationId,
  secret_ref: ref,
  api_url: apiUrl,
  access,
}: Input): GitEntry {
  const { host, owner } = accountIn(account);
  const app = { secretRef: ref, appId, installationId, ...(apiUrl === undefined ? {} : { apiUrl }) };
  const checked = authSchema.safeParse({ type: 'github_app', ...app });
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw badEntry(`${String(issue?.path[0] ?? 'The entry')} ${issue?.message ?? 'does not fit'}.`);
  }
  if (apiUrl === undefined && host !== 'github.com') throw badEntry(`${host} has an API of its own; give it as --api-url.`);
  return { host, owner, access, app };
}
