// The face of the auth slice: what upstreams are given to let the gateway in (refs from the vault, minted tokens, OAuth), and the values
// that must not come back from them. The fleet asks; the vault gives; nothing here connects to an upstream.
import type { Unsubscribe } from '../../kernel/ports.ts';
import type { AuthConfig, AuthMode, AuthOf, AuthType, Credential, OAuthHealth } from './model.ts';

/** An upstream that an operator accepted, and what it is bound to: another origin or command is another binding, and gets nothing of this one. */
export interface AuthBinding {
  readonly upstream: string;
  /** Digest of the accepted spec; a secret is given to nobody but the spec it was accepted with. */
  readonly specDigest: string;
  /** Origin of the upstream's URL, where it has one. */
  readonly origin?: string;
  readonly auth: AuthConfig;
}

export interface CredentialWish {
  readonly signal: AbortSignal;
  /** On whose behalf; absent for the gateway's own look at the lists. Minted tokens of one agent are given to no other. */
  readonly agent?: string;
  /** What is left of the grant, milliseconds: a minted token lives no longer (token_ttl = min(provider, remaining grant)). */
  readonly ttlMs?: number;
}

/**
 * One way to log in. It is given the values of its refs and gives a credential back; caching, binding, single flight, redaction and the
 * record are the slice's, so a provider is a pure exchange. Rejects with `auth.refused` (the secret or login is not good any more; a
 * person must act) or `auth.unreachable` (try later).
 */
export interface CredentialProvider<Type extends AuthType> {
  readonly type: Type;
  readonly mode: AuthMode;
  refs(auth: AuthOf<Type>): readonly string[];
  obtain(
    auth: AuthOf<Type>,
    secrets: ReadonlyMap<string, Uint8Array>,
    wish: CredentialWish & { readonly upstream: string },
  ): Promise<Obtained>;
}

export interface Obtained extends Omit<Credential, 'id'> {
  /** Every secret text in it, to be redacted from results: minted tokens as well as what they were made from. */
  readonly secrets: readonly string[];
  /**
   * Takes the token back where the provider can do that and gives a longer life than was wished for. Called once, when the credential is
   * at its end (`expiresAt`, a newer one, a stop); best effort: never rejects.
   */
  readonly revoke?: () => Promise<void>;
}

export interface AuthHealth {
  readonly mode: AuthMode;
  readonly oauth?: OAuthHealth;
  /** Refs that are not in the vault yet. */
  readonly missing: readonly string[];
  /** gate contract: what to tell the human, verbatim. */
  readonly actionRequired?: string;
}

export interface UpstreamAuth {
  /**
   * Rejects with `auth.waiting_for_secret` (names the refs), `auth.refused`, `auth.needs_reauth`, `auth.unreachable`, or the vault's own codes.
   * Coalesced: however many ask at once, one exchange is made.
   */
  credential(binding: AuthBinding, wish: CredentialWish): Promise<Credential>;
  /** The upstream answered 401 to this credential. True when another one may be had, so that one more try makes sense. */
  refused(binding: AuthBinding, credential: Credential): Promise<boolean>;
  /** Texts to be redacted from what this upstream says, current and previous; from memory. */
  secretsOf(upstream: string): readonly string[];
  health(binding: AuthBinding): AuthHealth;
  /** Called with the upstream whose credential changed (rotation, refresh, login): connections with an older one are replaced. */
  onChanged(listener: (upstream: string) => void): Unsubscribe;
  /** Upstreams bound to a ref. */
  boundTo(ref: string): readonly string[];
  close(): Promise<void>;
}
