// One value at rest: sealed under a data key of its own, which is sealed under the vault key. Both are bound to vault, namespace, name
// and version, so a row that was renamed, swapped or put back under another version opens nothing.
import { boundText } from './bound-text.ts';
import type { EntryRow, HeadRow } from './rows.ts';
import { openText, sealText, type VaultTools } from './sealing.ts';
import { pad, unpad } from './secret-value.ts';

type Place = Pick<EntryRow, 'namespace' | 'name' | 'version'>;
type Vault = Pick<HeadRow, 'vault_id' | 'generation'>;

function valueText({ vault_id }: Vault, { namespace, name, version }: Place): Uint8Array {
  return boundText('value', vault_id, namespace, name, version);
}

function keyText({ vault_id, generation }: Vault, { namespace, name, version }: Place): Uint8Array {
  return boundText('data key', vault_id, generation, namespace, name, version);
}

function withWrapKey<T>({ cipher }: VaultTools, vaultKey: Uint8Array, vault: Vault, use: (key: Uint8Array) => T): T {
  const key = cipher.derive(vaultKey, boundText('wrapping', vault.vault_id));
  try {
    return use(key);
  } finally {
    key.fill(0);
  }
}

export function sealValue(
  tools: VaultTools,
  vaultKey: Uint8Array,
  vault: Vault,
  place: Place,
  value: Uint8Array,
): Pick<EntryRow, 'wrapped_key' | 'sealed_value'> {
  const dataKey = tools.entropy.bytes(32);
  const padded = pad(value);
  try {
    return {
      wrapped_key: withWrapKey(tools, vaultKey, vault, (key) => sealText(tools, key, keyText(vault, place), dataKey)),
      sealed_value: sealText(tools, dataKey, valueText(vault, place), padded),
    };
  } finally {
    dataKey.fill(0);
    padded.fill(0);
  }
}

/** The value; `undefined` when the row is not what was sealed for its place in this vault. */
export function openValue(tools: VaultTools, vaultKey: Uint8Array, vault: Vault, row: EntryRow): Uint8Array | undefined {
  const dataKey = openDataKey(tools, vaultKey, vault, row);
  if (dataKey === undefined) return undefined;
  const padded = openText(tools, dataKey, valueText(vault, row), row.sealed_value);
  dataKey.fill(0);
  const value = padded && unpad(padded);
  padded?.fill(0);
  return value;
}

/** The same value under another vault key: only its data key is sealed anew. `undefined` when the row does not open. */
export function rewrapValue(
  tools: VaultTools,
  from: { readonly key: Uint8Array; readonly vault: Vault },
  to: { readonly key: Uint8Array; readonly vault: Vault },
  row: EntryRow,
): EntryRow | undefined {
  const dataKey = openDataKey(tools, from.key, from.vault, row);
  if (dataKey === undefined) return undefined;
  const wrapped_key = withWrapKey(tools, to.key, to.vault, (key) => sealText(tools, key, keyText(to.vault, row), dataKey));
  dataKey.fill(0);
  return { ...row, wrapped_key };
}

function openDataKey(tools: VaultTools, vaultKey: Uint8Array, vault: Vault, row: EntryRow): Uint8Array | undefined {
  return withWrapKey(tools, vaultKey, vault, (key) => openText(tools, key, keyText(vault, row), row.wrapped_key));
}
