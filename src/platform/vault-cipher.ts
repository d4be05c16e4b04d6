// VaultCipher on node:crypto: AES-256-GCM, HKDF-SHA256 and HPKE over raw bytes. Knows no row and no slot.
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { VaultCipher } from '../kernel/ports.ts';
import { aes256Gcm, hpkeOpen, hpkeSeal, x25519PublicKey } from './hpke.ts';

const tagBytes = 16;
const empty = new Uint8Array();

export function createVaultCipher(): VaultCipher {
  return {
    seal(key, nonce, bound, plain) {
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes }).setAAD(bound);
      return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    open(key, nonce, bound, sealed) {
      if (sealed.length < tagBytes) return undefined;
      const cut = sealed.length - tagBytes;
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
      decipher.setAAD(bound).setAuthTag(sealed.subarray(cut));
      const plain = decipher.update(sealed.subarray(0, cut));
      try {
        decipher.final();
        return plain;
      } catch {
        plain.fill(0);
        return undefined;
      }
    },
    derive: (secret, info) => new Uint8Array(hkdfSync('sha256', secret, empty, info, 32)),
    publicKey: x25519PublicKey,
    sealTo: (publicKey, ephemeral, info, plain) => hpkeSeal(aes256Gcm, publicKey, ephemeral, { info, bound: empty }, plain),
    openWith: (privateKey, info, sealed) => hpkeOpen(aes256Gcm, privateKey, { info, bound: empty }, sealed),
  };
}
