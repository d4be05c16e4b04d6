// JSON Web Tokens in their compact form (RFC 7515 §7.1, RFC 7519). Signs with what it is given; reads nothing back but an expiry.
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Digest, SigningKey } from '../../kernel/ports.ts';
import { decodeBase64url, encodeBase64url } from '../../lib/base64url.ts';
import { asObject, objectIn } from './mint-exchange.ts';

/** How a token is signed: a private key, or a secret both sides hold. */
export type JwsKey = Pick<SigningKey, 'keyId' | 'sign'> & { readonly algorithm: SigningKey['algorithm'] | 'HS256' };

const encoder = new TextEncoder();

export async function compactJws(key: JwsKey, claims: JsonObject): Promise<string> {
  const header = { alg: key.algorithm, typ: 'JWT', ...(key.keyId === undefined ? {} : { kid: key.keyId }) };
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${encodeBase64url(await key.sign(input))}`;
}

const part = (value: JsonObject): string => encodeBase64url(encoder.encode(JSON.stringify(value)));

/** HMAC-SHA256 (RFC 7518 §3.2). */
export function hmacKey(digest: Digest, secret: Uint8Array, keyId?: string): JwsKey {
  return {
    algorithm: 'HS256',
    ...(keyId === undefined ? {} : { keyId }),
    sign: async (input) => digest.hmacSha256(secret, input),
  };
}

/** `exp` of a token that somebody else signed, milliseconds since the epoch; `undefined` where it says none. */
export function expiryOf(token: string): number | undefined {
  const bytes = decodeBase64url(token.split('.')[1] ?? '');
  const claims = bytes === undefined ? undefined : objectIn(new TextDecoder().decode(bytes));
  const exp: Json | undefined = asObject(claims)?.['exp'];
  return typeof exp === 'number' && Number.isFinite(exp) && exp > 0 ? exp * 1_000 : undefined;
}
