// The vault at rest, format 1: one head, its slots, its entries. Binary fields are base64url; where something is sealed, 12 bytes of
// nonce come first. What each field is made of stands in slot.ts, entry.ts and head.ts.

export const formatVersion = 1;

export interface HeadRow {
  readonly format: number;
  /** UUID: what is sealed in one vault opens in no other. */
  readonly vault_id: string;
  /** Of the vault key; one more with each new key. */
  readonly generation: number;
  /** One more with each change. */
  readonly counter: number;
  readonly created_at: string;
  /** HMAC-SHA-256 over everything of the vault, under a key made from the vault key. */
  readonly mac: string;
}

export interface SlotRow {
  readonly id: string;
  readonly kind: string;
  readonly label: string;
  readonly created_at: string;
  /** Canonical JSON: how the secret is made from what a person types; `{}` where the secret is used as it is. */
  readonly params: string;
  /** X25519, 32 bytes. */
  readonly public_key: string;
  /** The private half under the secret of the slot. */
  readonly wrapped_private: string;
  /** The vault key, sealed to the public half. */
  readonly sealed_key: string;
}

export interface EntryRow {
  readonly namespace: string;
  readonly name: string;
  readonly version: number;
  readonly state: string;
  readonly changed_at: string;
  /** When a previous value is dropped; null for the current one. */
  readonly until: string | null;
  /** The data key of this one value under the vault key. */
  readonly wrapped_key: string;
  readonly sealed_value: string;
}

export interface VaultRows {
  readonly head: HeadRow;
  readonly slots: readonly SlotRow[];
  readonly entries: readonly EntryRow[];
}
