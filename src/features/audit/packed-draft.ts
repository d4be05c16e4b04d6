// A draft as it waits in the database: its text under a seal of this installation, so that nobody with the database alone can have
// a record written that the daemon never made. Knows no table.
import { encodeBase64url } from '../../lib/base64url.ts';
import type { Digest } from '../../kernel/ports.ts';
import type { Draft } from './record.ts';
import { locked, startWithOwnKeys } from './signed-checkpoints.ts';

export interface DraftPacking {
  pack(draft: Draft): string;
  /** Throws `audit.locked` for a text that `pack` did not make. */
  unpack(text: string): Draft;
}

export function createDraftPacking(digest: Digest, key: Uint8Array): DraftPacking {
  const sealOf = (text: string): string => encodeBase64url(digest.hmacSha256(key, `sallyport outbox draft v1\n${text}`));
  return {
    pack(draft) {
      const text = JSON.stringify(draft);
      return `${sealOf(text)} ${text}`;
    },
    unpack(packed) {
      const cut = packed.indexOf(' ');
      const text = packed.slice(cut + 1);
      if (packed.slice(0, Math.max(cut, 0)) === sealOf(text)) return JSON.parse(text) as Draft;
      throw locked('a record that waits in the database was not written by this installation.', {}, startWithOwnKeys);
    },
  };
}
