// Decoys at rest: each row under a key that the daemon holds, so that a copy of the database does not tell which secrets are worth
// nothing. Knows no row but its own.
import type { Entropy, VaultCipher } from '../../kernel/ports.ts';
import { decodeBase64url, encodeBase64url } from '../../lib/base64url.ts';
import { decoyKinds, type Decoy, type DecoyKind } from './model.ts';
import type { DecoyRow } from './store.ts';

export interface DecoySeal {
  close(decoy: Decoy, id: string): DecoyRow;
  /** `undefined` for a row that was not written by this, under this id. */
  open(row: DecoyRow): Decoy | undefined;
}

const nonceBytes = 12;

/** `key`: 32 bytes. */
export function createDecoySeal(cipher: Pick<VaultCipher, 'seal' | 'open'>, entropy: Entropy, key: Uint8Array): DecoySeal {
  const boundTo = (id: string): Uint8Array => new TextEncoder().encode(`sallyport decoy v1\n${id}`);

  return {
    close(decoy, id) {
      const nonce = entropy.bytes(nonceBytes);
      const sealed = cipher.seal(key, nonce, boundTo(id), new TextEncoder().encode(JSON.stringify(decoy)));
      return { id, sealed: encodeBase64url(Uint8Array.from([...nonce, ...sealed])) };
    },
    open({ id, sealed }) {
      const bytes = decodeBase64url(sealed);
      if (bytes === undefined || bytes.length <= nonceBytes) return undefined;
      const plain = cipher.open(key, bytes.subarray(0, nonceBytes), boundTo(id), bytes.subarray(nonceBytes));
      return plain && decoyOf(JSON.parse(new TextDecoder().decode(plain)) as Readonly<Record<string, unknown>>);
    },
  };
}

function decoyOf({ ref, value, kind, agent, upstream, plantedAt }: Readonly<Record<string, unknown>>): Decoy | undefined {
  if (typeof ref !== 'string' || typeof value !== 'string' || typeof plantedAt !== 'string') return undefined;
  if (!decoyKinds.some((one) => one === kind)) return undefined;
  const text = (one: unknown): string | undefined => (typeof one === 'string' ? one : undefined);
  return { ref, value, kind: kind as DecoyKind, agent: text(agent), upstream: text(upstream), plantedAt };
}
