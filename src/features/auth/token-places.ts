// Where a minted token goes: the header of a request, or a variable of a child (gate contract). Makes no token.
import type { Credential } from './model.ts';

export function tokenPlaces(upstream: string, token: string): Pick<Credential, 'headers' | 'env'> {
  return { headers: { authorization: `Bearer ${token}` }, env: { [tokenVariable(upstream)]: token } };
}

/** `<NAME>_ACCESS_TOKEN`, spelled as the names of variables may be. */
export function tokenVariable(upstream: string): string {
  const name = `${upstream.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_ACCESS_TOKEN`;
  return /^\d/.test(name) ? `_${name}` : name;
}

/** token_ttl = min(provider, remaining grant): the instant after which the token must not be used. */
export function endOf(now: number, providerEnd: number, ttlMs: number | undefined): number {
  return ttlMs === undefined ? providerEnd : Math.min(providerEnd, now + ttlMs);
}
