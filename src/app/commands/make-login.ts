// One login at an authorization server, with the person at the terminal: discovery, who we are there, and then a browser or a code.
import type { Cli } from '../../faces/cli/ports.ts';
import { beginVisit, codeOf, exchangeCode, type LoginPlan } from '../../features/auth/oauth2/authorization.ts';
import { clientFor, wantsSecret } from '../../features/auth/oauth2/client.ts';
import { askForDeviceCode, waitForDevice } from '../../features/auth/oauth2/device.ts';
import { discover, type Discovered } from '../../features/auth/oauth2/discovery.ts';
import type { LoginRecord } from '../../features/auth/oauth2/login-record.ts';
import type { LoginTarget } from '../../features/auth/oauth2/login-target.ts';
import type { LoginTargetOutput } from '../../features/auth/operations/login-target.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Clock, Digest, Entropy, TokenHttp } from '../../kernel/ports.ts';
import { printable } from '../../lib/printable.ts';
import { listenForRedirect } from '../../platform/redirect-listener.ts';

export interface LoginParts {
  readonly http: TokenHttp;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly digest: Digest;
  readonly openBrowser: (url: string) => void;
}

export interface LoginChoice {
  readonly device: boolean;
  readonly open: boolean;
}

/** A person may have to find a password first. */
const patienceMs = 5 * 60_000;
const longestSecret = 4_096;

/** Rejects with the `auth.*` codes; nothing is kept then. */
export async function makeLogin(
  known: LoginTargetOutput,
  { device, open }: LoginChoice,
  cli: Cli,
  parts: LoginParts & { readonly readInput: (maxBytes: number) => Promise<Uint8Array> },
): Promise<LoginRecord> {
  const { http, clock } = parts;
  const { signal } = new AbortController();
  const target = targetOf(known);
  const found = await discover(http, target, signal);
  const { server } = found;
  const secret = wantsSecret(target, server) ? await secretOf(server.issuer, cli, parts.readInput) : undefined;
  const byDevice = device || (cli.person === undefined && server.deviceEndpoint !== undefined);
  cli.note(`Authorization server: ${printable(server.issuer)}. ${wish(found)}`);
  const registration = known.registration && { ...known.registration, redirectUri: known.registration.redirect_uri };

  if (byDevice) {
    const redirectUri = registration?.redirectUri ?? 'http://127.0.0.1/callback';
    const client = await clientFor(http, { target, found, redirectUri, secret, known: registration }, signal);
    const plan: LoginPlan = { target, found, client, redirectUri };
    const code = await askForDeviceCode(http, plan, signal);
    cli.note(`Open ${printable(code.page)} on any device and type:\n\n    ${code.userCode}\n\nWaiting until that is done.`);
    if (open) parts.openBrowser(code.pageWithCode ?? code.page);
    return waitForDevice(http, plan, code, { clock, signal });
  }

  const listener = await listenForRedirect(registration?.redirectUri);
  try {
    const redirectUri = listener.uri;
    const client = await clientFor(http, { target, found, redirectUri, secret, known: registration }, signal);
    const plan: LoginPlan = { target, found, client, redirectUri };
    const visit = beginVisit(plan, parts);
    cli.note(`Open this in a browser of this machine:\n\n${printable(visit.url)}\n\nWaiting until you have logged in there.`);
    if (open) parts.openBrowser(visit.url);
    const code = codeOf(plan, visit, await listener.wait(visit.state, patienceMs));
    return await exchangeCode(http, plan, visit, code, { now: clock.now(), signal });
  } finally {
    listener.close();
  }
}

function targetOf({ client_id, client_metadata_url, ...rest }: LoginTargetOutput): LoginTarget {
  const { upstream, url, issuer, scopes, granted, missed } = rest;
  return {
    upstream,
    granted,
    missed,
    ...(url !== undefined && { url }),
    ...(issuer !== undefined && { issuer }),
    ...(scopes !== undefined && { scopes }),
    ...(client_id !== undefined && { clientId: client_id }),
    ...(client_metadata_url !== undefined && { clientMetadataUrl: client_metadata_url }),
  };
}

function wish({ scopes }: Discovered): string {
  return scopes.length === 0 ? 'It says itself what the login may.' : `It is asked for: ${printable(scopes.join(' '))}.`;
}

/** Nothing leaves the vault for a command line, so the one who registered the client brings its secret. */
async function secretOf(issuer: string, { person }: Cli, readInput: (maxBytes: number) => Promise<Uint8Array>): Promise<string> {
  const typed =
    person === undefined
      ? new TextDecoder().decode(await readInput(longestSecret))
      : await person.askHidden(`Secret of the client at ${printable(issuer)}: `);
  if (typed.trim() !== '') return typed.trim();
  throw new AppError('invalid', 'cli.bad_input', 'the authorization server wants a secret of this client, and none was given', {
    hint: 'Type it when asked, or pipe it in.',
  });
}
