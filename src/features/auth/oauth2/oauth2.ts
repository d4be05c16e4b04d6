// The logins of all upstreams that are logged in to: the provider of their credentials, what a person is told about them, and what their
// operations change. Two upstreams with one name in the vault have one login. Says nothing of who may log in.
import { createListeners } from '../../../lib/listeners.ts';
import type { Clock, Entropy, Log, TokenHttp, Unsubscribe } from '../../../kernel/ports.ts';
import type { Decision } from '../../vault/model.ts';
import type { Vault } from '../../vault/vault.ts';
import type { AuthHealth, CredentialProvider } from '../auth.ts';
import type { AuthOf, AuthType, OAuthHealth } from '../model.ts';
import { tokenVariable } from '../token-places.ts';
import { bearerChallenge } from './challenge.ts';
import { failuresOf } from './course.ts';
import { createHeldLogin, type HeldLogin } from './held-login.ts';
import { isLive, secretsIn, type LiveLogin, type LoginRecord } from './login-record.ts';
import { loginCommand, needsLogin, noOAuth, refTaken } from './refusals.ts';

/** An accepted entry that is logged in to. */
export interface LoginEntry {
  readonly upstream: string;
  /** Absent for a program that is started here. */
  readonly url?: string;
  readonly auth: AuthOf<'oauth2'>;
}

export interface OAuthDeps {
  readonly vault: Pick<Vault, 'logins' | 'known' | 'state'>;
  readonly http: TokenHttp;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  /** What operators accepted, as it stands now. */
  readonly entries: () => readonly LoginEntry[];
}

/** How it is with the login of one upstream. */
export interface LoginView {
  readonly entry: LoginEntry;
  readonly health: OAuthHealth;
  readonly record: LoginRecord | undefined;
  /** Scopes the upstream missed, since the last login. */
  readonly missed: readonly string[];
  /** In the middle of a sentence; absent while all is well. */
  readonly why?: string;
}

export interface OAuthLogins {
  readonly provider: CredentialProvider<AuthType>;
  views(): readonly LoginView[];
  /** Throws `auth.no_login` for an upstream that is not logged in to. */
  view(upstream: string): LoginView;
  /** A login that a person signed for. Rejects with `auth.ref_taken`, and with the vault's codes. */
  keep(upstream: string, record: LoginRecord, by: Decision): Promise<void>;
  /** What is left after a logout. */
  strip(upstream: string, left: LoginRecord): Promise<void>;
  /** An upstream has another token from now on, or none. */
  onChanged(listener: (upstream: string) => void): Unsubscribe;
  close(): void;
}

/** An upstream that invents new ones with each call fills nothing. */
const mostMissed = 32;

export function createOAuthLogins(deps: OAuthDeps): OAuthLogins {
  const { vault, clock, entries } = deps;
  const held = new Map<string, HeldLogin>();
  const changes = createListeners<[string]>();
  const missing = new Map<string, readonly string[]>();
  /** The token an upstream was given last: what it refuses is that one. */
  const given = new Map<string, string>();

  function loginOf(ref: string): HeldLogin {
    const known = held.get(ref);
    if (known !== undefined) return known;
    const { http, entropy, log } = deps;
    const login = createHeldLogin({ ref, vault, http, clock, entropy, log, onRenewed: () => changed(ref) });
    held.set(ref, login);
    return login;
  }

  function changed(ref: string): void {
    for (const { upstream, auth } of entries()) if (auth.secretRef === ref) changes.tell(upstream);
  }

  function entryOf(upstream: string): LoginEntry {
    const entry = entries().find((one) => one.upstream === upstream);
    if (entry === undefined) throw noOAuth(upstream);
    return entry;
  }

  function viewOf(entry: LoginEntry): LoginView {
    const { upstream, auth } = entry;
    const missed = missing.get(upstream) ?? [];
    const known = vault.logins.known(auth.secretRef);
    const login = known ? loginOf(auth.secretRef) : undefined;
    const record = login?.seen();
    const why = record === undefined ? (known ? undefined : 'nobody has logged in yet') : troubleOf(entry, record);
    const course = login?.course() ?? { state: 'ok' };
    const failures = failuresOf(course);
    const over = why !== undefined || course.state === 'needs_reauth' || missed.length > 0;
    const state = over
      ? 'needs_reauth'
      : course.state === 'ok' && record !== undefined && record.expires_at === undefined
        ? 'unknown_expiry'
        : course.state;
    const [next, last] = [login?.nextInMs(), login?.lastRenewedAt()];
    const reason = why ?? (course.state === 'ok' ? missedWords(missed) : course.why);
    return {
      entry,
      record,
      missed,
      health: {
        state,
        token_expires_in_s:
          record?.expires_at === undefined ? null : Math.max(0, Math.floor((record.expires_at - clock.now()) / 1_000)),
        consecutive_failures: failures,
        ...(last !== undefined && { last_refresh_at: new Date(last).toISOString() }),
        ...(next !== undefined && { next_refresh_in_s: Math.ceil(next / 1_000) }),
      },
      ...(reason !== undefined && { why: reason }),
    };
  }

  /** The token for the upstream as it was bound, renewed when that one was refused. */
  async function tokenFor(auth: AuthOf<'oauth2'>, wish: Parameters<CredentialProvider<'oauth2'>['obtain']>[2]): Promise<LiveLogin> {
    const { upstream, signal, refused } = wish;
    const { secretRef: ref } = auth;
    if (!vault.logins.known(ref)) throw needsLogin(upstream, 'is not there: nobody has logged in yet');
    const login = loginOf(ref);
    const now = await login.current(upstream, signal);
    const trouble = troubleOf({ upstream, auth, ...(wish.origin !== undefined && { url: wish.origin }) }, now);
    if (trouble !== undefined) throw needsLogin(upstream, `cannot be used: ${trouble}`);
    if (!refused || given.get(upstream) !== now.access_token) return now;
    if (await login.refused(now.access_token)) return login.current(upstream, signal);
    throw needsLogin(upstream, 'is not taken by it, and no other token can be had now');
  }

  const provider: CredentialProvider<'oauth2'> = {
    type: 'oauth2',
    mode: 'minted:oauth2',
    // They are in a namespace of their own, under the same names.
    refs: () => [],
    async obtain(auth, _, wish) {
      const record = await tokenFor(auth, wish);
      const { access_token: token, expires_at: expiresAt } = record;
      given.set(wish.upstream, token);
      const scheme = auth.scheme ?? 'Bearer';
      return {
        headers: { [(auth.header ?? 'authorization').toLowerCase()]: scheme === '' ? token : `${scheme} ${token}` },
        env: { [tokenVariable(wish.upstream)]: token },
        ...(expiresAt !== undefined && { expiresAt }),
        secrets: secretsIn(record),
      };
    },
    health(upstream): Pick<AuthHealth, 'oauth' | 'actionRequired'> {
      const entry = entries().find((one) => one.upstream === upstream);
      if (entry === undefined) return {};
      const { health } = viewOf(entry);
      return { oauth: health, ...(health.state === 'needs_reauth' && { actionRequired: loginCommand(upstream) }) };
    },
    onChanged: changes.add,
    challenged(upstream, challenge) {
      const { error, scopes = [] } = bearerChallenge(challenge) ?? {};
      // Another message about rights is none about scopes, and logging in again would change nothing.
      if (error !== 'insufficient_scope' || scopes.length === 0) return;
      missing.set(upstream, [...new Set([...(missing.get(upstream) ?? []), ...scopes])].slice(0, mostMissed));
    },
  };

  return {
    // Found by its `type`, so that it is given entries of its own only.
    provider: provider as unknown as CredentialProvider<AuthType>,
    views: () => entries().map(viewOf),
    view: (upstream) => viewOf(entryOf(upstream)),
    async keep(upstream, record, by) {
      const { secretRef: ref } = entryOf(upstream).auth;
      if (vault.known(ref)) throw refTaken(ref);
      await loginOf(ref).replace(record, by);
      for (const entry of entries()) if (entry.auth.secretRef === ref) missing.delete(entry.upstream);
    },
    strip: (upstream, left) => loginOf(entryOf(upstream).auth.secretRef).replace(left, undefined),
    onChanged: changes.add,
    close() {
      for (const login of held.values()) login.close();
    },
  };
}

/** Why this record is nothing to show to this upstream; in the middle of a sentence. */
function troubleOf({ upstream, url, auth }: LoginEntry, record: LoginRecord): string | undefined {
  if (!isLive(record)) return 'nobody has logged in since the logout';
  const fits =
    url === undefined ? record.origin === undefined && record.upstream === upstream : record.origin === new URL(url).origin;
  if (!fits) return 'the login was made for another place';
  if (auth.issuer !== undefined && auth.issuer !== record.issuer) return 'the login was made with another authorization server';
  if (auth.clientId !== undefined && auth.clientId !== record.client.id) return 'the login was made as another client';
  return undefined;
}

function missedWords(missed: readonly string[]): string | undefined {
  return missed.length === 0 ? undefined : `the upstream wants more than was granted: ${missed.join(' ')}`;
}
