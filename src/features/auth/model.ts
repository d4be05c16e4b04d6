// How an upstream is logged in to, as its entry in sallyport.yaml writes it (`auth:`), and what comes of it. Names secrets by their refs;
// holds none. Pure.
import { z } from 'zod';

/** Names of secrets as the vault takes them; a value pasted in their place is refused by `looksLikeSecret` (gate contract, scopegate_register_upstream). */
export const secretRef = z.string().regex(/^[a-z0-9_][a-z0-9_.:-]{0,127}$/, 'must be the name of a secret, not its value');
const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable');
const httpsOrLoopback = z.url({ protocol: /^https?$/ });
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
    clientId: z.string().optional(),
    scopes: z.array(z.string()).optional(),
    header: z.string().optional(),
    scheme: z.string().optional(),
  }),
  /** Minted: a short-lived token made from a long-lived key that the upstream never sees. */
  z.strictObject({
    type: z.literal('jwt'),
    secretRef,
    ttl: z.string().optional(),
    claims: z.record(z.string(), z.json()).optional(),
  }),
  z.strictObject({
    type: z.literal('github_app'),
    secretRef,
    appId: z.string(),
    installationId: z.string(),
    apiUrl: httpsOrLoopback.optional(),
    permissions: z.record(z.string(), z.enum(['read', 'write', 'admin'])).optional(),
    repositories: z.array(z.string()).optional(),
  }),
  z.strictObject({
    type: z.literal('aws_sts'),
    secretRef,
    roleArn: z.string(),
    region: z.string(),
    endpoint: httpsOrLoopback.optional(),
    durationSeconds: seconds.optional(),
  }),
  z.strictObject({ type: z.literal('google_sa'), secretRef, scopes: z.array(z.string()), tokenUrl: httpsOrLoopback.optional() }),
  z.strictObject({ type: z.literal('huly'), secretRef, accountsUrl: httpsOrLoopback, workspace: z.string().optional() }),
]);
export type AuthConfig = z.infer<typeof authSchema>;
export type AuthType = AuthConfig['type'];
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
