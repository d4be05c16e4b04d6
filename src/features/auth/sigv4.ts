// AWS Signature Version 4, for one POST of a form to `/`. From the published description of the algorithm; knows no service.
import type { Digest } from '../../kernel/ports.ts';
import { hex } from '../../lib/hex.ts';

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface SignedForm {
  readonly host: string;
  readonly region: string;
  readonly service: string;
  /** As it is sent. */
  readonly body: string;
  /** Lower-case names; signed all of them, besides `host`, `x-amz-date` and the session's token. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The headers of the request, `authorization` among them. */
export function signForm(
  digest: Digest,
  keys: AwsKeys,
  { host, region, service, body, headers, at }: SignedForm,
): Record<string, string> {
  const stamp = new Date(at).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const day = stamp.slice(0, 8);
  const signed: Record<string, string> = {
    ...headers,
    host,
    'x-amz-date': stamp,
    ...(keys.sessionToken === undefined ? {} : { 'x-amz-security-token': keys.sessionToken }),
  };
  const names = Object.keys(signed).toSorted();
  const canonical = [
    'POST',
    '/',
    '',
    ...names.map((name) => `${name}:${(signed[name] as string).trim().replaceAll(/ +/g, ' ')}`),
    '',
    names.join(';'),
    hex(digest.sha256(body)),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', stamp, scope, hex(digest.sha256(canonical))].join('\n');
  const signature = hex(digest.hmacSha256(signingKey(digest, keys.secretAccessKey, day, region, service), text));
  const credential = `Credential=${keys.accessKeyId}/${scope}`;
  return { ...signed, authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}` };
}

/** The key of one day, region and service. */
export function signingKey(digest: Digest, secret: string, day: string, region: string, service: string): Uint8Array {
  const start: Uint8Array = new TextEncoder().encode(`AWS4${secret}`);
  return [day, region, service, 'aws4_request'].reduce((key, part) => digest.hmacSha256(key, part), start);
}
