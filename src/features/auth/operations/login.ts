// auth login: what a person brought back from an authorization server is kept for an upstream. The tokens travel beside what is signed; the
// statement says whose they are and for what.
import { z } from 'zod';
import { actorOf } from '../../../kernel/caller.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import { sizeClasses, slotWords } from '../../vault/model.ts';
import type { LoginEntry, OAuthLogins } from '../oauth2/oauth2.ts';
import { isLive, readRecord, type LiveLogin } from '../oauth2/login-record.ts';
import { otherLogin, refTaken } from '../oauth2/refusals.ts';
import type { AuthOperationDeps } from '../operation-deps.ts';

/** The secret `login`, a record as login-record.ts has it, travels beside it. */
const input = z.strictObject({
  upstream: z.string(),
  issuer: z.string(),
  resource: z.string().optional(),
  client: z.string(),
  scopes: z.array(z.string()),
  size: z.literal(sizeClasses),
  login_commitment: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'expected a commitment: 43 characters of base64url'),
});
export type LoginInput = z.infer<typeof input>;
const output = z.strictObject({
  upstream: z.string(),
  issuer: z.string(),
  scopes: z.array(z.string()),
  expires_at: z.string().nullable(),
});

export function loginOperation({ logins, vault }: AuthOperationDeps) {
  return defineOperation<LoginInput, z.infer<typeof output>>({
    name: 'auth.login',
    summary: 'Keep a login to an upstream, to be renewed by the gateway from then on.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    secrets: () => ['login'],
    async shown({ upstream, issuer, resource, client, scopes }) {
      const { entry, record } = logins.view(upstream);
      const ref = entry.auth.secretRef;
      if (vault.known(ref)) throw refTaken(ref);
      assertFor(entry, { issuer, resource });
      return {
        upstream,
        ...(entry.url !== undefined && { url: entry.url }),
        authorization_server: issuer,
        client,
        may: scopes.length === 0 ? 'whatever the server gives' : scopes.join(' '),
        kept_as: ref,
        ...(vault.state() === 'absent' && { vault: `is made with this; it opens with ${slotWords.key_file}` }),
        ...(record !== undefined && isLive(record) && { replaces: `a login with ${record.issuer}` }),
      };
    },
    async run(signed, { secrets, caller, proofFacts }) {
      const record = recordIn(secrets?.['login'] ?? new Uint8Array(), signed, logins);
      const by = { actor: actorOf(caller), ...(proofFacts && { proof: proofFacts }) };
      if (vault.state() === 'absent') {
        await vault.slots.create([{ kind: 'key_file', label: '', params: '{}', secret: undefined }], by);
      }
      await logins.keep(signed.upstream, record, by);
      const { issuer, scopes, expires_at: end } = record;
      return { upstream: signed.upstream, issuer, scopes, expires_at: end === undefined ? null : new Date(end).toISOString() };
    },
  });
}

/** Throws `auth.other_login` unless the record is what was signed, and has a token: a registration alone is no login. */
function recordIn(bytes: Uint8Array, signed: LoginInput, logins: Pick<OAuthLogins, 'view'>): LiveLogin {
  const record = readRecord(bytes);
  const { entry } = logins.view(signed.upstream);
  if (!isLive(record)) throw otherLogin('it holds no access token');
  const same =
    record.upstream === signed.upstream &&
    record.issuer === signed.issuer &&
    record.resource === signed.resource &&
    record.client.id === signed.client &&
    record.scopes.join(' ') === signed.scopes.join(' ');
  if (!same) throw otherLogin('its server, client or scopes differ');
  if (record.origin !== (entry.url === undefined ? undefined : new URL(entry.url).origin))
    throw otherLogin('it is for another place');
  return record;
}

function assertFor({ url, auth }: LoginEntry, { issuer, resource }: Pick<LoginInput, 'issuer' | 'resource'>): void {
  if (auth.issuer !== undefined && auth.issuer !== issuer) throw otherLogin('the entry names another authorization server');
  const fits =
    resource === undefined ? url === undefined : url !== undefined && URL.parse(resource)?.origin === new URL(url).origin;
  if (!fits) throw otherLogin('it is for another resource');
}
