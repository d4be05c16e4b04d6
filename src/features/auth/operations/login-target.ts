// What the command line needs to know to log in to an upstream: what an operator accepted, and what is known of an earlier login. No token
// and no secret of a client is in it.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { AuthOperationDeps } from '../operation-deps.ts';

const input = z.strictObject({ upstream: z.string().describe('The name of the upstream.') });
export const loginTargetOutput = z.strictObject({
  upstream: z.string(),
  url: z.string().optional(),
  issuer: z.string().optional(),
  client_id: z.string().optional(),
  client_metadata_url: z.string().optional(),
  scopes: z.array(z.string()).optional(),
  granted: z.array(z.string()),
  missed: z.array(z.string()),
  /** A registration that needs no secret. */
  registration: z.strictObject({ issuer: z.string(), id: z.string(), redirect_uri: z.string() }).optional(),
});
export type LoginTargetOutput = z.infer<typeof loginTargetOutput>;

export function loginTargetOperation({ logins }: Pick<AuthOperationDeps, 'logins'>) {
  return defineOperation<z.infer<typeof input>, LoginTargetOutput>({
    name: 'auth.login-target',
    summary: 'Show what a login to an upstream would be made with.',
    input,
    output: loginTargetOutput,
    effect: 'look',
    access: 'local',
    async run({ upstream }) {
      const { entry, record, missed } = logins.view(upstream);
      const { issuer, clientId, clientMetadataUrl, scopes } = entry.auth;
      const client = record?.client;
      const reusable = client?.kind === 'registered' && client.method === 'none' && client.redirect_uri !== undefined;
      return {
        upstream,
        ...(entry.url !== undefined && { url: entry.url }),
        ...(issuer !== undefined && { issuer }),
        ...(clientId !== undefined && { client_id: clientId }),
        ...(clientMetadataUrl !== undefined && { client_metadata_url: clientMetadataUrl }),
        ...(scopes !== undefined && { scopes }),
        granted: record?.scopes ?? [],
        missed: [...missed],
        ...(reusable && { registration: { issuer: record?.issuer ?? '', id: client.id, redirect_uri: client.redirect_uri ?? '' } }),
      };
    },
  });
}
