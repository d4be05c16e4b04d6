// The face of the auth slice: what upstreams are given to let the gateway in (refs from the vault, minted tokens, OAuth), and the values
// that must not come back from them. The fleet asks; the vault gives; nothing here connects to an upstream.
import { asAppError } from '../../kernel/errors.ts';
import type { Clock, Entropy, Unsubscribe } from '../../kernel/ports.ts';
import { createListeners } from '../../lib/listeners.ts';
import type { ValueSearch } from '../../lib/value-search.ts';
import type { Audit } from '../audit/audit.ts';
import type { Vault } from '../vault/vault.ts';
import { createExchange, type Exchanged } from './exchange.ts';
import { createHeld, type Held } from './held.ts';
import { createMaskedTexts } from './masked-texts.ts';
import { isMinted, refsOf, type AuthConfig, type AuthType, type Credential } from './model.ts';
import type { AuthHealth, CredentialProvider, CredentialWish } from './provider.ts';
import { staleAdvice, unbound, unsupported, waitingForSecrets } from './refusals.ts';
import { unlessAborted } from './unless-aborted.ts';

/** An upstream that an operator accepted, and what it is bound to: another origin or command is another binding, and gets nothing of this one. */
export interface AuthBinding {
  readonly upstream: string;
  /** Digest of the accepted spec; a secret is given to nobody but the spec it was accepted with. */
  readonly specDigest: string;
  /** Origin of the upstream's URL, where it has one. */
  readonly origin?: string;
  readonly auth: AuthConfig;
}

export type { AuthHealth, CredentialProvider, CredentialWish, Obtained, ProviderWish } from './provider.ts';

export interface UpstreamAuth {
  /** From now on this is what goes by the upstream's name, and the one before it gets nothing any more. What comes back ends it. */
  bind(binding: AuthBinding): Unsubscribe;
  /** The same as `credential` where one is at hand; asks and waits for nobody. */
  held(binding: AuthBinding, wish: Pick<CredentialWish, 'agent' | 'ttlMs'>): Credential | undefined;
  /** Whether this one is still given out: not replaced, refused or at its end. */
  holds(binding: AuthBinding, id: string): boolean;
  /**
   * Rejects with `auth.waiting_for_secret` (names the refs), `auth.refused`, `auth.needs_reauth`, `auth.unreachable`, or the vault's own codes.
   * Coalesced: however many ask at once, one exchange is made. Each exchange is on the record before it is made.
   */
  credential(binding: AuthBinding, wish: CredentialWish): Promise<Credential>;
  /** The upstream answered 401 to this credential. True when another one may be had, so that one more try makes sense. */
  refused(binding: AuthBinding, credential: Credential): Promise<boolean>;
  /** The upstream answered 403 to one, with this `WWW-Authenticate`. True when a person can do something about it. */
  challenged(binding: AuthBinding, challenge: string): boolean;
  /** For a person, after `refused` said that there is no other. */
  advice(binding: AuthBinding): string;
  /** Texts to be redacted from what this upstream says, current and previous; from memory. */
  secretsOf(upstream: string): readonly string[];
  /** The search for them; `undefined` when it was given none. */
  searchOf(upstream: string): ValueSearch | undefined;
  health(binding: AuthBinding): AuthHealth;
  /** The vault is closed, so that whatever is not at hand has to wait for a person. */
  locked(): boolean;
  /** Called with the upstream whose credential changed (rotation, refresh, login), or may be had now: connections with an older one are replaced. */
  onChanged(listener: (upstream: string) => void): Unsubscribe;
  /** Whether the ref is in the vault. */
  known(ref: string): boolean;
  /** Upstreams bound to a ref. */
  boundTo(ref: string): readonly string[];
  close(): Promise<void>;
}

export interface AuthDeps {
  readonly vault: Pick<Vault, 'state' | 'known' | 'values' | 'redactionValues' | 'onChanged' | 'onOpened'>;
  readonly audit: Pick<Audit, 'append'>;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly providers: readonly CredentialProvider<AuthType>[];
}

interface Bound {
  readonly binding: AuthBinding;
  readonly refs: readonly string[];
  readonly held: Held;
  /** By agent; nothing stands for everybody. */
  readonly obtaining: Map<string, Promise<Credential>>;
  readonly ending: AbortController;
  /** Moves on with each change of its refs: what was made from values before it is not used. */
  epoch: number;
  refused: boolean;
}

const nothing: Credential = { id: 'none', headers: {}, env: {} };
/** Values changed while a token was made of them, as those of a refreshed login do each time; once more is enough. */
const mostTries = 2;

export function createAuth({ vault, audit, clock, entropy, providers }: AuthDeps): UpstreamAuth {
  const byType = new Map<AuthType, CredentialProvider<AuthType>>(providers.map((provider) => [provider.type, provider]));
  const bounds = new Map<string, Bound>();
  const masked = createMaskedTexts(clock);
  const exchange = createExchange({ vault, audit, clock, entropy, masked });
  const changes = createListeners<[string]>();
  const stops = [
    vault.onChanged(changed),
    vault.onOpened(opened),
    ...providers.flatMap((provider) => provider.onChanged?.((upstream) => renewed(bounds.get(upstream))) ?? []),
  ];

  function boundOf({ upstream, specDigest }: AuthBinding): Bound {
    const bound = bounds.get(upstream);
    if (bound?.binding.specDigest !== specDigest) throw unbound(upstream);
    return bound;
  }

  function changed(ref: string): void {
    for (const bound of bounds.values()) if (bound.refs.includes(ref)) renewed(bound);
  }

  function renewed(bound: Bound | undefined): void {
    if (bound === undefined) return;
    bound.epoch += 1;
    bound.refused = false;
    bound.held.clear();
    changes.tell(bound.binding.upstream);
  }

  function opened(): void {
    for (const { binding, held } of bounds.values()) if (!held.any()) changes.tell(binding.upstream);
  }

  function missingOf({ refs }: Bound): readonly string[] {
    return refs.filter((ref) => !vault.known(ref));
  }

  /** One exchange for all of this agent who ask meanwhile. */
  function obtaining(bound: Bound, agent: string | undefined, wish: CredentialWish): Promise<Credential> {
    const key = agent === undefined ? '' : ` ${agent}`;
    let running = bound.obtaining.get(key);
    if (running === undefined) {
      running = obtain(bound, agent, wish.ttlMs).finally(() => bound.obtaining.delete(key));
      bound.obtaining.set(key, running);
    }
    return running;
  }

  async function obtain(bound: Bound, agent: string | undefined, ttlMs: number | undefined): Promise<Credential> {
    for (let tries = 1; ; tries += 1) {
      const { epoch } = bound;
      const { credential, revoke } = await obtainOnce(bound, agent, ttlMs);
      const late = bound.ending.signal.aborted;
      if (late || (epoch !== bound.epoch && tries < mostTries)) {
        masked.release(bound.binding.upstream, credential.id);
        void revoke?.();
        if (late) throw unbound(bound.binding.upstream);
        continue;
      }
      bound.refused = false;
      bound.held.put(credential, agent, revoke);
      return credential;
    }
  }

  function obtainOnce(
    { binding, refs, ending, refused }: Bound,
    agent: string | undefined,
    ttlMs: number | undefined,
  ): Promise<Exchanged> {
    const { upstream, auth, origin, specDigest: spec } = binding;
    const provider = byType.get(auth.type);
    if (provider === undefined) throw unsupported(upstream, auth.type);
    const wish = {
      signal: ending.signal,
      upstream,
      refused,
      ...(origin === undefined ? {} : { origin }),
      ...(agent === undefined ? {} : { agent }),
      ...(ttlMs === undefined ? {} : { ttlMs }),
    };
    return exchange(provider, { auth, refs, spec }, wish);
  }

  return {
    bind(binding) {
      const { upstream, auth } = binding;
      bounds.get(upstream)?.ending.abort();
      const bound: Bound = {
        binding,
        refs: byType.get(auth.type)?.refs(auth) ?? refsOf(auth),
        held: createHeld({ clock, minted: isMinted(auth), gone: (id) => masked.release(upstream, id) }),
        obtaining: new Map(),
        ending: new AbortController(),
        epoch: 0,
        refused: false,
      };
      bounds.set(upstream, bound);
      return () => {
        bound.ending.abort();
        bound.held.clear(true);
        if (bounds.get(upstream) === bound) bounds.delete(upstream);
      };
    },
    held(binding, wish) {
      if (binding.auth.type === 'none') return nothing;
      const bound = bounds.get(binding.upstream);
      return bound?.binding.specDigest === binding.specDigest ? bound.held.fitting(wish) : undefined;
    },
    holds: ({ upstream }, id) => bounds.get(upstream)?.held.has(id) === true,
    async credential(binding, wish) {
      if (binding.auth.type === 'none') return nothing;
      const bound = boundOf(binding);
      const agent = isMinted(binding.auth) ? wish.agent : undefined;
      for (;;) {
        const held = bound.held.fitting(wish);
        if (held !== undefined) return held;
        const missing = missingOf(bound);
        if (missing.length > 0) throw waitingForSecrets(binding.upstream, missing);
        try {
          const credential = await unlessAborted(obtaining(bound, agent, wish), wish.signal);
          if (bound.held.fits(credential, wish)) return credential;
        } catch (thrown) {
          const spare = asAppError(thrown).code === 'auth.unreachable' ? bound.held.fitting(wish, true) : undefined;
          if (spare !== undefined) return spare;
          throw thrown;
        }
      }
    },
    async refused(binding, { id }) {
      const bound = boundOf(binding);
      // Somebody else found out, and another one is there or under way.
      if (!bound.held.forget(id)) return bound.held.any() || bound.obtaining.size > 0;
      if (byType.get(binding.auth.type)?.mode.startsWith('minted:') !== true) return false;
      bound.refused = true;
      return true;
    },
    challenged(binding, challenge) {
      const provider = byType.get(binding.auth.type);
      provider?.challenged?.(binding.upstream, challenge);
      return provider?.health?.(binding.upstream).actionRequired !== undefined;
    },
    advice: (binding) =>
      byType.get(binding.auth.type)?.health?.(binding.upstream).actionRequired ?? staleAdvice(refsOf(binding.auth)),
    secretsOf: (upstream) => masked.of(upstream),
    searchOf: (upstream) => masked.search(upstream),
    health(binding) {
      const provider = byType.get(binding.auth.type);
      const bound = bounds.get(binding.upstream);
      const missing = bound === undefined ? [] : missingOf(bound);
      return { mode: provider?.mode ?? 'none', missing, ...provider?.health?.(binding.upstream) };
    },
    locked: () => vault.state() === 'locked',
    onChanged: changes.add,
    known: (ref) => vault.known(ref),
    boundTo: (ref) => [...bounds.values()].filter(({ refs }) => refs.includes(ref)).map(({ binding }) => binding.upstream),
    async close() {
      for (const stop of stops) stop();
      for (const { ending, held } of bounds.values()) {
        ending.abort();
        held.clear(true);
      }
      bounds.clear();
    },
  };
}
