// KeySigner on node:crypto: private keys that people keep as PEM or JWK. Says nothing of what is signed, and nothing of a key but its kind.
import { createPrivateKey, sign, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { KeySigner, SigningKey } from '../kernel/ports.ts';

type Algorithm = SigningKey['algorithm'];
interface Problem {
  readonly problem: string;
}

/** RFC 7518 §3.3. */
const leastRsaBits = 2048;

export function createKeySigner(): KeySigner {
  return {
    read(text) {
      const trimmed = text.trim();
      return trimmed.startsWith('{') ? fromJwk(trimmed) : fromPem(trimmed);
    },
  };
}

function fromPem(text: string): SigningKey | Problem {
  if (/-----BEGIN (?:RSA |EC )?PUBLIC KEY-----|-----BEGIN CERTIFICATE-----/.test(text)) {
    return { problem: 'is a public key or certificate where the private key is needed' };
  }
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(text)) {
    return { problem: 'is a private key under a passphrase; keep it in the vault without one' };
  }
  // Variables of an environment often hold the lines of a PEM joined by the two characters \n.
  const pem = text.includes('\\n') ? text.replaceAll('\\n', '\n') : text;
  try {
    return signingKey(createPrivateKey({ key: pem, format: 'pem' }), undefined);
  } catch {
    return { problem: 'is no private key in PEM or JWK' };
  }
}

function fromJwk(text: string): SigningKey | Problem {
  try {
    const jwk = JSON.parse(text) as JsonWebKey;
    if (jwk['d'] === undefined) return { problem: 'is a JWK without its private part' };
    const { kid, alg } = jwk as { kid?: unknown; alg?: unknown };
    const read = signingKey(createPrivateKey({ key: jwk, format: 'jwk' }), typeof kid === 'string' ? kid : undefined);
    if ('problem' in read || alg === undefined || alg === read.algorithm) return read;
    // RFC 9864 gives EdDSA with this curve a name of its own.
    if (alg === 'Ed25519' && read.algorithm === 'EdDSA') return read;
    return { problem: `is a JWK for another algorithm than ${read.algorithm}, which is all that is made with such a key` };
  } catch {
    return { problem: 'is no private key in PEM or JWK' };
  }
}

function signingKey(key: KeyObject, keyId: string | undefined): SigningKey | Problem {
  const algorithm = algorithmOf(key);
  if (typeof algorithm !== 'string') return algorithm;
  const how = algorithm === 'ES256' ? { key, dsaEncoding: 'ieee-p1363' as const } : key;
  const hash = algorithm === 'EdDSA' ? null : 'sha256';
  return {
    algorithm,
    ...(keyId === undefined ? {} : { keyId }),
    sign: (data) =>
      new Promise((resolve, reject) => {
        sign(hash, Buffer.from(data), how, (error, signature) => (error ? reject(error) : resolve(signature)));
      }),
  };
}

function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): Algorithm | Problem {
  if (type === 'ed25519') return 'EdDSA';
  if (type === 'rsa') {
    const bits = details?.modulusLength ?? 0;
    return bits >= leastRsaBits ? 'RS256' : { problem: `is an RSA key of ${bits} bits; at least ${leastRsaBits} are needed` };
  }
  if (type === 'ec' && details?.namedCurve === 'prime256v1') return 'ES256';
  return { problem: 'is a key of another kind than RSA, P-256 or Ed25519' };
}
