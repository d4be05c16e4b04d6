// `type: jwt`: a token of our own, signed with a key the upstream knows the other half of. Asks nobody.
import type { JsonObject } from '../../kernel/json.ts';
import { decodeBase64url } from '../../lib/base64url.ts';
import type { CredentialProvider } from './auth.ts';
import { compactJws, hmacKey, type JwsKey } from './compact-jws.ts';
import { objectIn, type MintDeps } from './mint-exchange.ts';
import { unusableSecret } from './mint-refusals.ts';
import { jwtTtlMs } from './model.ts';
import { endOf, tokenPlaces } from './token-places.ts';

const usualTtl = '15m';
/** RFC 7518 §3.2: an HMAC key is at least as long as its hash. Bytes. */
const leastHmacBytes = 32;

export function createJwt({
  clock,
  entropy,
  digest,
  keys,
}: Pick<MintDeps, 'clock' | 'entropy' | 'digest' | 'keys'>): CredentialProvider<'jwt'> {
  function keyIn(ref: string, secret: Uint8Array): JwsKey {
    const text = new TextDecoder().decode(secret).trim();
    const jwk = text.startsWith('{') ? objectIn(text) : undefined;
    if (jwk?.['kty'] === 'oct') return octetKey(ref, jwk);
    if (jwk !== undefined || text.startsWith('-----BEGIN')) {
      const read = keys.read(text);
      if ('problem' in read) throw unusableSecret(ref, read.problem);
      return read;
    }
    return hmac(ref, secret);
  }

  /** RFC 7518 §6.4. */
  function octetKey(ref: string, { k, kid }: JsonObject): JwsKey {
    const bytes = typeof k === 'string' ? decodeBase64url(k) : undefined;
    if (bytes === undefined) throw unusableSecret(ref, 'is a JWK without a readable "k"');
    return hmac(ref, bytes, typeof kid === 'string' ? kid : undefined);
  }

  function hmac(ref: string, bytes: Uint8Array, keyId?: string): JwsKey {
    if (bytes.length >= leastHmacBytes) return hmacKey(digest, bytes, keyId);
    throw unusableSecret(ref, `is no private key, and too short for HMAC-SHA256, which wants ${leastHmacBytes} bytes`);
  }

  return {
    type: 'jwt',
    mode: 'minted:jwt',
    refs: ({ secretRef }) => [secretRef],
    async obtain({ secretRef, ttl, claims = {} }, secrets, { upstream, agent, ttlMs }) {
      const secret = secrets.get(secretRef) ?? new Uint8Array();
      const key = keyIn(secretRef, secret);
      const now = clock.now();
      const expiresAt = endOf(now, now + (jwtTtlMs(ttl ?? usualTtl) ?? 0), ttlMs);
      const iat = Math.floor(now / 1_000);
      const token = await compactJws(key, {
        iss: 'sallyport',
        sub: agent ?? upstream,
        ...claims,
        iat,
        // A token whose end is its beginning is refused by everybody; it is given up at `expiresAt` all the same.
        exp: Math.max(iat + 1, Math.floor(expiresAt / 1_000)),
        jti: entropy.uuid(),
      });
      return { ...tokenPlaces(upstream, token), expiresAt, secrets: [token, new TextDecoder().decode(secret)] };
    },
  };
}
