// `type: aws_sts`: the keys of a role for a while (AssumeRole), for programs that are started here. The long-lived keys sign one request.
import type { CredentialProvider, Obtained } from './auth.ts';
import { awsKeysIn } from './aws-keys.ts';
import { askProvider, type MintDeps } from './mint-exchange.ts';
import { unreachable, unusableSecret } from './mint-refusals.ts';
import type { AuthOf } from './model.ts';
import { signForm } from './sigv4.ts';
import { assumedRoleIn, stsRefusal } from './sts-answers.ts';
import { endOf } from './token-places.ts';

/** AWS gives no role for less, and no more is taken unless the entry says so. Seconds. */
const leastSeconds = 900;

export function createAwsSts({ clock, digest, http }: Pick<MintDeps, 'clock' | 'digest' | 'http'>): CredentialProvider<'aws_sts'> {
  return {
    type: 'aws_sts',
    mode: 'minted:aws_sts',
    refs: ({ secretRef }) => [secretRef],
    async obtain(auth, secrets, { agent, signal, ttlMs }): Promise<Obtained> {
      const given = new TextDecoder().decode(secrets.get(auth.secretRef));
      const keys = awsKeysIn(given);
      if ('problem' in keys) throw unusableSecret(auth.secretRef, keys.problem);
      const url = new URL(auth.endpoint ?? endpointOf(auth.region));
      const body = new URLSearchParams({
        Action: 'AssumeRole',
        Version: '2011-06-15',
        RoleArn: auth.roleArn,
        RoleSessionName: sessionName(agent),
        DurationSeconds: String(durationOf(auth, ttlMs)),
      }).toString();
      const contentType = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
      const { host } = url;
      const at = clock.now();
      const headers = signForm(digest, keys, { host, region: auth.region, service: 'sts', body, headers: contentType, at });
      const answer = await askProvider(http, { url: url.origin, method: 'POST', headers, body, signal });
      if (answer.status !== 200) throw stsRefusal(auth, answer);
      const role = assumedRoleIn(answer.body);
      if (role === undefined) throw unreachable(`${url.origin} answered without keys.`);
      return {
        headers: {},
        env: {
          AWS_ACCESS_KEY_ID: role.keys.accessKeyId,
          AWS_SECRET_ACCESS_KEY: role.keys.secretAccessKey,
          AWS_SESSION_TOKEN: role.keys.sessionToken,
        },
        expiresAt: endOf(clock.now(), role.expiresAt, ttlMs),
        secrets: [...Object.values(role.keys), given, ...Object.values(keys)],
      };
    },
  };
}

/** Not less than AWS gives; where the grant ends sooner, the credential does, and nobody is handed it after that. */
function durationOf({ durationSeconds }: AuthOf<'aws_sts'>, ttlMs: number | undefined): number {
  const cap = durationSeconds ?? leastSeconds;
  return Math.max(leastSeconds, Math.min(cap, ttlMs === undefined ? cap : Math.floor(ttlMs / 1_000)));
}

/** The one in the region, as AWS advises; China has a domain of its own. */
function endpointOf(region: string): string {
  return `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

/** In CloudTrail it tells whose call it was; 2 to 64 of the characters that AWS allows. */
function sessionName(agent: string | undefined): string {
  return `sallyport${agent === undefined ? '' : `-${agent.replaceAll(/[^\w+=,.@-]/g, '-')}`}`.slice(0, 64);
}
