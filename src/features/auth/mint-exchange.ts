// One request to a provider of tokens: what every provider's answers have in common. What a status means beyond that is the provider's.
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Clock, Digest, Entropy, KeySigner, TokenHttp, TokenRequest } from '../../kernel/ports.ts';
import { refused, unreachable } from './mint-refusals.ts';

/** What providers are made of. */
export interface MintDeps {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly digest: Digest;
  readonly keys: KeySigner;
  readonly http: TokenHttp;
}

export interface MintAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Where the body is the JSON of an object. */
  readonly value: JsonObject | undefined;
}

const timeoutMs = 10_000;
const maxBytes = 256 * 1024;
const longestWaitMs = 3_600_000;

/** Rejects with `auth.unreachable` for what may pass by itself (no answer, 429, 5xx), and with `auth.refused` for a redirect. */
export async function askProvider(
  http: TokenHttp,
  request: Pick<TokenRequest, 'url' | 'method' | 'headers' | 'body' | 'signal'>,
): Promise<MintAnswer> {
  const { status, headers, body } = await http.request({ ...request, timeoutMs, maxBytes });
  const origin = new URL(request.url).origin;
  if (status === 429 || status >= 500) throw unreachable(`${origin} answered with ${status}.`, retryAfterOf(headers));
  if (status >= 300 && status < 400) {
    throw refused(
      `${origin} answered with a redirect (${status}), and a credential is sent nowhere but where the entry says.`,
      'Write the URL it leads to into the entry of the upstream, if it is right.',
    );
  }
  return { status, headers, body, value: objectIn(body) };
}

/** RFC 9110 §10.2.3 in seconds; a date is nothing to wait for here. */
export function retryAfterOf(headers: Readonly<Record<string, string>>): number | undefined {
  const seconds = /^\d{1,6}$/.exec(headers['retry-after'] ?? '')?.[0];
  return seconds === undefined ? undefined : Math.min(Number(seconds) * 1_000, longestWaitMs);
}

export function objectIn(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}

export function asObject(value: Json | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** A text that is there and can stand in a header or a variable. */
export function tokenText(value: Json | undefined): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{1,65536}$/.test(value) ? value : undefined;
}

/** A word from a closed list of the provider's (`invalid_grant`), fit to be shown; anything else is not repeated. */
export function codeWord(value: Json | undefined): string | undefined {
  return typeof value === 'string' && /^[A-Za-z][A-Za-z_]{1,47}$/.test(value) ? value : undefined;
}

/** Runs what is done for good order only: its failure is nobody's. */
export async function bestEffort(run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch {
    // Whatever was to be tidied ends by itself later.
  }
}
