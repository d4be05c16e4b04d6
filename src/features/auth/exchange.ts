// One exchange of secrets for a credential: values out of the vault, on the record, masked, given to the provider and wiped. Keeps nothing
// and knows nobody who waits.
import type { Clock, Entropy } from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import type { Vault } from '../vault/vault.ts';
import type { MaskedTexts } from './masked-texts.ts';
import { isMinted, type AuthConfig, type AuthType, type Credential } from './model.ts';
import type { CredentialProvider, Obtained, ProviderWish } from './provider.ts';

export interface ExchangeDeps {
  readonly vault: Pick<Vault, 'values' | 'redactionValues'>;
  readonly audit: Pick<Audit, 'append'>;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly masked: MaskedTexts;
}

export interface Exchanged {
  readonly credential: Credential;
  readonly revoke: Obtained['revoke'];
}

/** `spec` is the digest of the accepted one. Rejects as the vault, the record and the provider do; nothing was sent then. */
export type Exchange = (
  provider: CredentialProvider<AuthType>,
  what: { readonly auth: AuthConfig; readonly refs: readonly string[]; readonly spec: string },
  wish: ProviderWish,
) => Promise<Exchanged>;

export function createExchange({ vault, audit, clock, entropy, masked }: ExchangeDeps): Exchange {
  return async (provider, { auth, refs, spec }, wish) => {
    const { upstream, agent, ttlMs } = wish;
    const secrets = refs.length === 0 ? [] : await vault.values(refs, { signal: wish.signal });
    const id = entropy.uuid();
    try {
      const before = refs.length === 0 ? [] : vault.redactionValues(refs);
      const own = [...secrets.map(({ value }) => value), ...before].map((value) => decoder.decode(value));
      for (const value of before) value.fill(0);
      // No record, no use (DESIGN invariant 6).
      audit.append({
        event: 'secret.used',
        actor: agent === undefined ? 'daemon' : `agent:${agent}`,
        facts: { upstream, refs, type: auth.type, spec },
      });
      // Before anything is sent anywhere: whoever refuses may repeat what it was given.
      masked.remember(upstream, id, own);
      const asked = clock.now();
      const obtained = await provider.obtain(auth, new Map(secrets.map(({ ref, value }) => [ref, value])), wish);
      masked.remember(upstream, id, [...own, ...obtained.secrets]);
      const { headers, env, revoke } = obtained;
      // Past the grant it is not used any more, however long its maker lets it live.
      const granted = isMinted(auth) && ttlMs !== undefined ? asked + ttlMs : Infinity;
      const expiresAt = Math.min(obtained.expiresAt ?? Infinity, granted);
      return { credential: { id, headers, env, ...(expiresAt === Infinity ? {} : { expiresAt }) }, revoke };
    } catch (error) {
      masked.release(upstream, id);
      throw error;
    } finally {
      for (const secret of secrets) secret.wipe();
    }
  };
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
