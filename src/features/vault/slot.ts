// One way to open the vault: a key pair whose private half is sealed under the slot's secret, and the vault key sealed to its public
// half. So a new vault key reaches every slot without anybody's secret, and one slot's secret says nothing about another.
import { decodeBase64url, encodeBase64url } from '../../lib/base64url.ts';
import { boundText } from './bound-text.ts';
import type { HeadRow, SlotRow } from './rows.ts';
import { openText, sealText, type VaultTools } from './sealing.ts';

type Vault = Pick<HeadRow, 'vault_id' | 'generation'>;
export type SlotPlan = Pick<SlotRow, 'id' | 'kind' | 'label' | 'created_at' | 'params'>;

/** `secret`: at least 128 bits that only this slot's keeper has, or what Argon2id made of a passphrase. */
export function newSlot(tools: VaultTools, vault: Vault, plan: SlotPlan, secret: Uint8Array, vaultKey: Uint8Array): SlotRow {
  const privateKey = tools.entropy.bytes(32);
  const public_key = encodeBase64url(tools.cipher.publicKey(privateKey));
  const wrappingKey = wrappingKeyOf(tools, vault, plan, secret);
  const wrapped_private = sealText(tools, wrappingKey, privateText(vault, { ...plan, public_key }), privateKey);
  privateKey.fill(0);
  wrappingKey.fill(0);
  return resealSlot(tools, vault, { ...plan, public_key, wrapped_private, sealed_key: '' }, vaultKey);
}

/** The same slot for another vault key. Needs nobody's secret. */
export function resealSlot(tools: VaultTools, vault: Vault, row: SlotRow, vaultKey: Uint8Array): SlotRow {
  const publicKey = decodeBase64url(row.public_key);
  if (publicKey?.length !== 32) throw new RangeError('a public key of a slot has 32 bytes');
  const ephemeral = tools.entropy.bytes(32);
  const sealed = tools.cipher.sealTo(publicKey, ephemeral, vaultKeyText(vault, row), vaultKey);
  ephemeral.fill(0);
  return { ...row, sealed_key: encodeBase64url(sealed) };
}

/** The vault key; `undefined` for another secret and for a row that was changed. */
export function openSlot(tools: VaultTools, vault: Vault, row: SlotRow, secret: Uint8Array): Uint8Array | undefined {
  const wrappingKey = wrappingKeyOf(tools, vault, row, secret);
  const privateKey = openText(tools, wrappingKey, privateText(vault, row), row.wrapped_private);
  wrappingKey.fill(0);
  const sealed = decodeBase64url(row.sealed_key);
  if (privateKey?.length !== 32 || sealed === undefined) return undefined;
  const vaultKey = tools.cipher.openWith(privateKey, vaultKeyText(vault, row), sealed);
  privateKey.fill(0);
  return vaultKey?.length === 32 ? vaultKey : undefined;
}

function wrappingKeyOf({ cipher }: VaultTools, { vault_id }: Vault, { id, kind }: SlotPlan, secret: Uint8Array): Uint8Array {
  return cipher.derive(secret, boundText('slot', vault_id, id, kind));
}

/** Everything of the row but its label and date, which the head covers: parameters that were weakened open nothing. */
function privateText({ vault_id }: Vault, { id, kind, params, public_key }: SlotPlan & Pick<SlotRow, 'public_key'>): Uint8Array {
  return boundText('slot private key', vault_id, id, kind, params, public_key);
}

function vaultKeyText({ vault_id, generation }: Vault, { id }: SlotPlan): Uint8Array {
  return boundText('vault key', vault_id, generation, id);
}
