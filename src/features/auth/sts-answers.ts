// What AWS STS answers to AssumeRole: the keys in its XML, or the reason in words. Reads the handful of flat elements that it documents.
import type { AppError } from '../../kernel/errors.ts';
import { retryAfterOf, tokenText, type MintAnswer } from './mint-exchange.ts';
import { addSecretAgain, refused, unreachable } from './mint-refusals.ts';
import type { AuthOf } from './model.ts';
import type { AwsKeys } from './sigv4.ts';

export interface AssumedRole {
  readonly keys: Required<AwsKeys>;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export function assumedRoleIn(body: string): AssumedRole | undefined {
  const credentials = element(body, 'Credentials') ?? '';
  const [accessKeyId, secretAccessKey, sessionToken] = ['AccessKeyId', 'SecretAccessKey', 'SessionToken'].map((name) =>
    tokenText(element(credentials, name)?.trim()),
  );
  const expiresAt = Date.parse(element(credentials, 'Expiration')?.trim() ?? '');
  if (accessKeyId === undefined || secretAccessKey === undefined || sessionToken === undefined) return undefined;
  return Number.isNaN(expiresAt) ? undefined : { keys: { accessKeyId, secretAccessKey, sessionToken }, expiresAt };
}

const badKeys = new Set([
  'InvalidClientTokenId',
  'UnrecognizedClientException',
  'InvalidAccessKeyId',
  'ExpiredToken',
  'ExpiredTokenException',
]);
const throttled = new Set([
  'Throttling',
  'ThrottlingException',
  'RequestLimitExceeded',
  'ServiceUnavailable',
  'InternalFailure',
  'IDPCommunicationError',
]);

export function stsRefusal({ secretRef, roleArn, region }: AuthOf<'aws_sts'>, { status, headers, body }: MintAnswer): AppError {
  const code = /^\w{1,64}$/.exec(element(body, 'Code')?.trim() ?? '')?.[0] ?? String(status);
  const said = `AWS STS in ${region} answered ${code}`;
  if (throttled.has(code)) return unreachable(`${said}.`, retryAfterOf(headers));
  if (badKeys.has(code))
    return refused(`${said}: the keys in '${secretRef}' are not good, or not any more.`, addSecretAgain(secretRef));
  if (code === 'SignatureDoesNotMatch' || code === 'RequestExpired') {
    const hint = `Check the clock of this machine; if it is right: sallyport secret rotate ${secretRef}.`;
    return refused(`${said}: the secret key in '${secretRef}' is wrong, or the clock here is off by more than five minutes.`, hint);
  }
  if (code === 'AccessDenied') {
    const hint = "Let the trust policy of the role name the owner of the keys, and that owner's policy allow sts:AssumeRole.";
    return refused(`${said}: the keys in '${secretRef}' may not assume ${roleArn}.`, hint);
  }
  if (code === 'ValidationError') {
    const hint = 'Check roleArn, and that durationSeconds is not more than the role allows (an hour where roles are chained).';
    return refused(`${said}: the role, or how long it is wanted, is not valid.`, hint);
  }
  if (code === 'RegionDisabledException')
    return refused(`${said}.`, 'Enable the region in the account, or write another one into the entry.');
  return refused(`${said}.`, 'Check roleArn, region and endpoint of the entry.');
}

/** Text of the first such element, its entities resolved. */
function element(xml: string, name: string): string | undefined {
  const start = xml.indexOf(`<${name}>`);
  const end = xml.indexOf(`</${name}>`, start);
  if (start < 0 || end < 0) return undefined;
  const text = xml.slice(start + name.length + 2, end);
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}
