// How an upstream is logged in to, as its entry in sallyport.yaml writes it (`auth:`), and what comes of it. Names secrets by their refs;
// holds none. Pure.
import { z } from 'zod';

/** Names of secrets as the vault takes them; a value pasted in their place is refused by `looksLikeSecret` (gate contract, scopegate_register_upstream). */
export const secretRef = z.string().regex(/^[a-z0-9_][a-z0-9_.:-]{0,127}$/, 'must be the name of a secret, not its value');
const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable');
/** A credential is sent there: over TLS, or in clear to this machine only. */
const httpsOrLoopback = z
  .url({ protocol: /^https?$/ })
  .regex(/^https:|^http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?:[:/?#]|$)/, 'must be https, or http to this machine')
  .regex(/^[^@?#]*$/, 'must be without user name, query and fragment');
const repositoryName = z.string().regex(/^(?:[A-Za-z0-9-]{1,39}\/)?[A-Za-z0-9._-]{1,100}$/, 'must be the name of a repository');

/** What every token of ours gets anew (RFC 7519 §4.1). */
const jwtOwnClaims = ['iat', 'nbf', 'exp', 'jti'] as const;
const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** `<n>s`, `<n>m` or `<n>h` in milliseconds, as in a policy, up to twelve hours; `undefined` for anything else. */
export function jwtTtlMs(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,6})(s|m|h)$/.exec(text) ?? [];
  const ms = Number(digits) * (unitMs[unit ?? ''] ?? 0);
  return ms > 0 && ms <= 43_200_000 ? ms : undefined;
}

const seconds = z.int().min(60).max(43_200);

export const authSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('none') }),
  /** The value itself, in a header (HTTP; default `Authorization: Bearer …`) or in `<NAME>_ACCESS_TOKEN` (stdio). */
  z.strictObject({ type: z.literal('bearer'), secretRef, header: z.string().optional(), scheme: z.string().optional() }),
  /** Values in variables of a child (stdio only). */
  z.strictObject({ type: z.literal('env'), env: z.record(variableName, secretRef) }),
  /** A token that is logged in for and refreshed; `secretRef` is where it is kept. `issuer` pins whose tokens are taken. */
  z.strictObject({
    type: z.literal('oauth2'),
    secretRef,
    issuer: httpsOrLoopback.optional(),
    /** Of a client that was registered by hand; its secret, where it has one, is asked for at the login. */
    clientId: z.string().min(1).max(512).optional(),
    /** Where a document says who we are (client ID metadata document); it names http://127.0.0.1/callback as redirect. */
    clientMetadataUrl: z
      .url({ protocol: /^https$/ })
      .refine((url) => new URL(url).pathname !== '/', 'must be the https URL of a document, with a path')
      .optional(),
    scopes: z.array(z.string()).optional(),
    header: z.string().optional(),
    scheme: z.string().optional(),
  }),
  /** Minted: a short-lived token made from a long-lived key that the upstream never sees. */
  z.strictObject({
    type: z.literal('jwt'),
    secretRef,
    ttl: z
      .string()
      .refine((text) => jwtTtlMs(text) !== undefined, 'must be a time such as 90s, 15m or 2h, at most 12h')
      .optional(),
    claims: z
      .record(z.string(), z.json())
      .refine(
        (claims) => !jwtOwnClaims.some((name) => name in claims),
        `cannot set ${jwtOwnClaims.join(', ')}: each token gets its own`,
      )
      .optional(),
  }),
  z.strictObject({
    type: z.literal('github_app'),
    secretRef,
    appId: z.string().regex(/^[A-Za-z0-9.]{1,64}$/, 'must be the App ID or Client ID of the app'),
    installationId: z.string().regex(/^\d{1,20}$/, 'must be a number, in quotes'),
    apiUrl: httpsOrLoopback.optional(),
    permissions: z.record(z.string(), z.enum(['read', 'write', 'admin'])).optional(),
    repositories: z.array(repositoryName).min(1).max(500).optional(),
  }),
  z.strictObject({
    type: z.literal('aws_sts'),
    secretRef,
    roleArn: z.string().regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/, 'must be the ARN of a role'),
    region: z.string().regex(/^[a-z]{2}(?:-[a-z]+)+-\d{1,2}$/, 'must be a region such as eu-central-1'),
    endpoint: httpsOrLoopback.optional(),
    durationSeconds: seconds.optional(),
  }),
  z.strictObject({
    type: z.literal('google_sa'),
    secretRef,
    scopes: z.array(z.string().regex(/^[\x21-\x7e]+$/)).min(1),
    tokenUrl: httpsOrLoopback.optional(),
  }),
  z.strictObject({ type: z.literal('huly'), secretRef, accountsUrl: httpsOrLoopback, workspace: z.string().optional() }),
]);
export type AuthConfig = z.infer<typeof authSchema>;
export type AuthType = AuthConfig['type'];
/** Nothing to log in with. */
export const noAuth: AuthConfig = { type: 'none' };
export type AuthOf<Type extends AuthType> = Extract<AuthConfig, { type: Type }>;

/** gate contract, scopegate_diagnose. */
export type AuthMode =
  | 'none'
  | 'fallback:injection'
  | `minted:${'jwt' | 'github_app' | 'aws_sts' | 'huly' | 'google_sa' | 'oauth2'}`;

/** gate contract, scopegate_diagnose: `oauth`. */
export interface OAuthHealth {
  readonly state: 'ok' | 'backoff' | 'circuit_open' | 'needs_reauth' | 'unknown_expiry';
  readonly token_expires_in_s: number | null;
  readonly consecutive_failures: number;
  readonly last_refresh_at?: string;
  readonly next_refresh_in_s?: number;
}

/** What a connection or a request is given. */
export interface Credential {
  /** Tells one credential from the next: connections and children are keyed by it. Never derived from the value without a key. */
  readonly id: string;
  /** By lower-case name; for requests over HTTP. */
  readonly headers: Readonly<Record<string, string>>;
  /** For the environment of a child. */
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch after which it must not be used any more; absent: until a secret behind it changes. */
  readonly expiresAt?: number;
}

/** Made anew for each agent and grant; the others are one for everybody. */
const mintedTypes: ReadonlySet<AuthType> = new Set(['jwt', 'github_app', 'aws_sts', 'google_sa', 'huly']);

export function isMinted({ type }: AuthConfig): boolean {
  return mintedTypes.has(type);
}

/** The names of secrets in an entry, each once, in the order of the entry. */
export function refsOf(auth: AuthConfig): readonly string[] {
  if (auth.type === 'none') return [];
  return auth.type === 'env' ? [...new Set(Object.values(auth.env))] : [auth.secretRef];
}

/** Shorter ones could not be told from other text in what comes back, so they are not handed out. UTF-16 units. */
export const shortestValue = 8;

/** Longest life of a value in the search after another one took its place, milliseconds; the vault's own. */
export const previousLifeMs = 24 * 3_600_000;

export type AuthErrorCode =
  | 'auth.waiting_for_secret' // a name that is not in the vault yet
  | 'auth.unfit_value' // no header or variable can carry it, or it is too short to be masked
  | 'auth.unbound' // not, or no longer, what was accepted under the name
  | 'auth.unsupported' // no provider for this type
  | 'auth.refused' // the secret or login is not good any more; a person must act
  | 'auth.needs_reauth' // a person has to log in
  | 'auth.no_login' // the upstream is not one that is logged in to
  | 'auth.other_login' // not what was signed, or no login at all
  | 'auth.ref_taken' // a secret of a person has the name that the login would take
  | 'auth.unreachable'; // whoever mints or refreshes does not answer; try later

const tokenBeginning = /^(?:sk-|ghp_|gho_|xox[bap]-|AKIA|AIza|eyJ)/;
const tokenRun = /[A-Za-z0-9+/=]{32,}/;
const longestName = 40;

/**
 * gate contract, scopegate_register_upstream: longer than 40, a known beginning of tokens, or a run of 32 characters of base64. Asked
 * about what stands where the name of a secret belongs.
 */
export function looksLikeSecret(ref: string): boolean {
  return ref.length > longestName || tokenBeginning.test(ref) || tokenRun.test(ref);
}

/** The contract's sentence about the first name in `auth` that is none; it never repeats it. `undefined` when all are names. */
export function rawSecretProblem(auth: unknown): string | undefined {
  if (typeof auth !== 'object' || auth === null) return undefined;
  const { secretRef: ref, env } = auth as { readonly secretRef?: unknown; readonly env?: unknown };
  if (typeof ref === 'string' && looksLikeSecret(ref))
    return 'secretRef looks like a raw secret value. Pass the NAME of a secret; a person adds its value with: sallyport secret add NAME';
  if (typeof env !== 'object' || env === null) return undefined;
  const pasted = Object.entries(env).find(([, value]) => typeof value === 'string' && looksLikeSecret(value));
  if (pasted === undefined) return undefined;
  return `env value '${pasted[0].slice(0, longestName)}' looks like a raw secret. Pass the NAME of a secret; a person adds its value with: sallyport secret add NAME`;
}
