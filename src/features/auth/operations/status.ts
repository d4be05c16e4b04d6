// auth status: every upstream that is logged in to, and how it is with its login now.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { loginCommand } from '../oauth2/refusals.ts';
import type { AuthOperationDeps } from '../operation-deps.ts';

const input = z.strictObject({});
const output = z.array(
  z.strictObject({
    upstream: z.string(),
    state: z.enum(['ok', 'backoff', 'circuit_open', 'needs_reauth', 'unknown_expiry']),
    token_expires_in_s: z.int().nullable(),
    consecutive_failures: z.int(),
    last_refresh_at: z.string().optional(),
    next_refresh_in_s: z.int().optional(),
    issuer: z.string().optional(),
    scopes: z.array(z.string()),
    missed_scopes: z.array(z.string()).describe('The upstream turned a call away for want of these; the next login asks for them.'),
    why: z.string().optional(),
    action_required: z.string().optional(),
  }),
);
type Output = z.infer<typeof output>;

export function authStatusOperation({ logins }: Pick<AuthOperationDeps, 'logins'>) {
  return defineOperation<z.infer<typeof input>, Output>({
    name: 'auth.status',
    summary: 'Show the logins to upstreams.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'auth status', draw },
    run: async () =>
      logins.views().map(({ entry, health, record, missed, why }) => ({
        upstream: entry.upstream,
        ...health,
        ...(record !== undefined && { issuer: record.issuer }),
        scopes: record?.scopes ?? [],
        missed_scopes: [...missed],
        ...(why !== undefined && { why }),
        ...(health.state === 'needs_reauth' && { action_required: loginCommand(entry.upstream) }),
      })),
  });
}

function draw(logins: Output): string {
  if (logins.length === 0) return 'No upstream has auth: {type: oauth2, …} in its entry.';
  return logins
    .map((login) => {
      const { upstream, state, token_expires_in_s: left, why, action_required: action } = login;
      const life = left === null ? '' : `, its token for ${left} s`;
      const lines = [
        `${upstream}  ${state}${life}`,
        ...(why === undefined ? [] : [`  ${why}`]),
        ...(action === undefined ? [] : [`  ${action}`]),
      ];
      return lines.join('\n');
    })
    .join('\n');
}
