// Requests to the token endpoint (RFC 6749 §3.2): a grant goes, tokens or an error code come back. Every answer is a stranger's; no part of
// a request or an answer but the error code is ever repeated.
import type { Json, JsonObject } from '../../../kernel/json.ts';
import type { TokenHttp } from '../../../kernel/ports.ts';
import { encodeBase64 } from '../../../lib/base64.ts';
import { scopesIn } from './challenge.ts';
import type { Client } from './client.ts';
import { jsonObject, textOf } from './metadata-answer.ts';
import { malformed } from './refusals.ts';

/** Tokens as given. Instants in milliseconds since the epoch. */
export interface Tokens {
  readonly accessToken: string;
  /** Absent: none came, so that an earlier one is still good. */
  readonly refreshToken?: string;
  /** Absent: the server does not say. */
  readonly expiresAt?: number;
  /** Absent: as asked for (RFC 6749 §5.1). */
  readonly scopes?: readonly string[];
}

export type TokenReply =
  | { readonly kind: 'tokens'; readonly tokens: Tokens }
  /** RFC 6749 §5.2: the server read the request and says no. */
  | { readonly kind: 'refused'; readonly error: string; readonly description: string | undefined };

type ClientOnTheWire = { readonly [Part in 'id' | 'secret' | 'method']?: Client[Part] | undefined } & Pick<Client, 'id' | 'method'>;

export interface TokenWish {
  readonly endpoint: string;
  readonly client: ClientOnTheWire;
  /** The grant and its parameters. */
  readonly form: Readonly<Record<string, string>>;
  readonly resource: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Together with the rest of a login they have to fit into one value of the vault. */
const longestToken = 24_000;
const maxBytes = 64 * 1024;
const timeoutMs = 10_000;
/** What a header can carry (RFC 6750 §2.1, and what servers really send). */
const carriable = /^[\x21-\x7e]+$/;
const what = 'The token endpoint';

/** Rejects with `auth.unreachable`, and with `auth.bad_answer` (unavailable) for what is neither tokens nor a refusal. */
export async function askForTokens(http: TokenHttp, wish: TokenWish): Promise<TokenReply> {
  const { endpoint, client, form, resource, signal } = wish;
  const body = new URLSearchParams(form);
  if (resource !== undefined) body.set('resource', resource);
  const answer = await http.request({
    url: endpoint,
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      ...clientHeaders(client, body),
    },
    body: body.toString(),
    signal,
    timeoutMs,
    maxBytes,
  });
  const found = jsonObject(answer.body);
  const error = textOf(found?.['error']);
  // Some say no with 200.
  if (error !== undefined && answer.status < 500 && answer.status !== 429) {
    return { kind: 'refused', error: error.slice(0, 64), description: textOf(found?.['error_description']) };
  }
  if (answer.status === 200 && found !== undefined) return { kind: 'tokens', tokens: tokensIn(found, wish.now) };
  throw malformed(what, `answered with HTTP ${answer.status}${answer.status === 200 ? ' and no JSON' : ''}.`);
}

/** Puts the client into the request: into its body, or (RFC 6749 §2.3.1, each half form-encoded) into a header. */
export function clientHeaders({ id, secret, method }: ClientOnTheWire, body: URLSearchParams): Record<string, string> {
  if (method === 'client_secret_basic' && secret !== undefined) {
    const pair = `${formEncoded(id)}:${formEncoded(secret)}`;
    return { authorization: `Basic ${encodeBase64(new TextEncoder().encode(pair))}` };
  }
  body.set('client_id', id);
  if (secret !== undefined) body.set('client_secret', secret);
  return {};
}

function formEncoded(text: string): string {
  return new URLSearchParams({ v: text }).toString().slice(2);
}

function tokensIn(found: JsonObject, now: number): Tokens {
  const accessToken = textOf(found['access_token']);
  if (accessToken === undefined) throw malformed(what, 'gave no access token.');
  const type = textOf(found['token_type']) ?? 'Bearer';
  if (type.toLowerCase() !== 'bearer') throw malformed(what, 'gave a token that is no bearer token.');
  const refreshToken = textOf(found['refresh_token']);
  for (const token of [accessToken, refreshToken ?? '-']) {
    if (token.length > longestToken || !carriable.test(token)) {
      throw malformed(what, `gave a token of more than ${longestToken} characters, or one that no header can carry.`);
    }
  }
  const seconds = secondsIn(found['expires_in']);
  const scope = textOf(found['scope']);
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(seconds !== undefined && { expiresAt: now + seconds * 1_000 }),
    ...(scope !== undefined && { scopes: scopesIn(scope) }),
  };
}

/** Some write it as a text. Zero and less, and more than ten years, say nothing. */
function secondsIn(value: Json | undefined): number | undefined {
  const seconds = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof seconds === 'number' && seconds > 0 && seconds <= 315_360_000 ? seconds : undefined;
}
