// The seal over the whole vault: which slots and which values there are, and how often that changed. A row that was added, taken out,
// changed or put back to an older copy does not fit it. The head itself is tied to the record (audit/rights-seal.ts).
import { encodeBase64url } from '../../lib/base64url.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { Json } from '../../kernel/json.ts';
import { boundText } from './bound-text.ts';
import type { EntryRow, HeadRow, SlotRow, VaultRows } from './rows.ts';
import type { VaultTools } from './sealing.ts';

type Unsealed = Omit<VaultRows, 'head'> & { readonly head: Omit<HeadRow, 'mac'> };

/** The same rows with the seal that fits them. */
export function sealHead(tools: VaultTools, vaultKey: Uint8Array, rows: Unsealed): VaultRows {
  return { ...rows, head: { ...rows.head, mac: macOf(tools, vaultKey, rows) } };
}

export function headFits(tools: VaultTools, vaultKey: Uint8Array, rows: VaultRows): boolean {
  // Who can compare byte for byte here has the key already.
  return macOf(tools, vaultKey, rows) === rows.head.mac;
}

function macOf({ cipher, digest }: VaultTools, vaultKey: Uint8Array, { head, slots, entries }: Unsealed): string {
  const { format, vault_id, generation, counter, created_at } = head;
  const text = canonicalJson({
    head: { format, vault_id, generation, counter, created_at },
    slots: lines(slots),
    // By their digests: values may be long, and each row is sealed for itself.
    entries: lines(entries).map((line) => encodeBase64url(digest.sha256(line))),
  });
  const key = cipher.derive(vaultKey, boundText('head', vault_id));
  const mac = digest.hmacSha256Text(key, text);
  key.fill(0);
  return mac;
}

/** In an order of its own: no database promises one. */
function lines(rows: readonly (SlotRow | EntryRow)[]): string[] {
  return rows.map((row) => canonicalJson(row as unknown as Json)).sort();
}
