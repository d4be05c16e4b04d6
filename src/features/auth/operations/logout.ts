// auth logout: tokens are forgotten here and, where the server has a way for that, there. It only narrows, so it needs no signature. Who we
// are to the server is kept, and never taken for a login.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { isLive, withoutTokens } from '../oauth2/login-record.ts';
import { noOAuth } from '../oauth2/refusals.ts';
import { revoke } from '../oauth2/revocation.ts';
import type { AuthOperationDeps } from '../operation-deps.ts';

const input = z.strictObject({ upstream: z.string().describe('The name of the upstream.') });
const output = z.strictObject({
  upstream: z.string(),
  was_logged_in: z.boolean(),
  revoked: z.boolean().describe('The authorization server said that the tokens are of no use any more.'),
});
type Output = z.infer<typeof output>;

export function logoutOperation({ logins, vault, http }: AuthOperationDeps) {
  return defineOperation<z.infer<typeof input>, Output>({
    name: 'auth.logout',
    summary: 'Forget the login to an upstream; it is reached again after another one.',
    input,
    output,
    effect: 'change',
    access: 'local',
    command: { words: 'auth logout', positionals: ['upstream'], draw },
    async run({ upstream }, { signal }) {
      const { entry } = logins.view(upstream);
      const ref = entry.auth.secretRef;
      if (!vault.logins.known(ref)) return { upstream, was_logged_in: false, revoked: false };
      // Waits for the vault, where it is locked.
      (await vault.logins.value(ref, { signal })).wipe();
      const { record } = logins.view(upstream);
      if (record === undefined) throw noOAuth(upstream);
      if (!isLive(record)) return { upstream, was_logged_in: false, revoked: false };
      // Here first: whatever the server does, nothing of it is used any more.
      await logins.strip(upstream, withoutTokens(record));
      return { upstream, was_logged_in: true, revoked: await revoke(http, record, signal) };
    },
  });
}

function draw({ upstream, was_logged_in, revoked }: Output): string {
  if (!was_logged_in) return `There was no login to ${upstream}.`;
  const there = revoked ? 'its authorization server has ended it too' : 'its authorization server was not told, or did not confirm';
  return `The login to ${upstream} is forgotten; ${there}.`;
}
