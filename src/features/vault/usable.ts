// Said before anybody is asked for a passphrase: that the vault cannot take a change now.
import { absent, damaged, locked } from './refusals.ts';
import type { Vault } from './vault.ts';

export function assertOpen(vault: Pick<Vault, 'state'>): void {
  if (vault.state() === 'absent') throw absent();
  assertOpenOrAbsent(vault);
}

export function assertOpenOrAbsent(vault: Pick<Vault, 'state'>): void {
  if (vault.state() === 'damaged') throw damaged();
  if (vault.state() === 'locked') throw locked();
}
