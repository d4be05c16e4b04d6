// One way to log in, as the rest of the slice sees it: given the values of its refs, it gives a credential back. Types only.
import type { Unsubscribe } from '../../kernel/ports.ts';
import type { AuthMode, AuthOf, AuthType, Credential, OAuthHealth } from './model.ts';

export interface CredentialWish {
  readonly signal: AbortSignal;
  /** On whose behalf; absent for the gateway's own look at the lists. Minted tokens of one agent are given to no other. */
  readonly agent?: string;
  /** What is left of the grant, milliseconds: a minted token lives no longer (token_ttl = min(provider, remaining grant)). */
  readonly ttlMs?: number;
}

/** What a provider is told besides. */
export interface ProviderWish extends CredentialWish {
  readonly upstream: string;
  /** Of the binding: where what is obtained will go. */
  readonly origin?: string;
  /** The upstream refused the last one though its time was not over: only another one helps. */
  readonly refused: boolean;
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
  obtain(auth: AuthOf<Type>, secrets: ReadonlyMap<string, Uint8Array>, wish: ProviderWish): Promise<Obtained>;
  /** Where it knows more of an upstream's login than whether its secrets are there. */
  health?(upstream: string): Pick<AuthHealth, 'oauth' | 'actionRequired'>;
  /** Where it knows before it is asked: another login is there, so that what was obtained from the one before is not used any more. */
  onChanged?(listener: (upstream: string) => void): Unsubscribe;
  /** The upstream turned a request away with this `WWW-Authenticate` (403): the credential is good, and not enough. */
  challenged?(upstream: string, challenge: string): void;
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
