// The commands of the vault that no declaration gives: those that ask for a secret.
import type { Command } from '../../faces/cli/command.ts';
import { secretPutCommands } from './secret-put.ts';
import type { VaultCommandDeps } from './vault-parts.ts';
import { vaultRecoverCommand } from './vault-recover.ts';
import { slotMakingCommands } from './vault-slot-make.ts';
import { vaultUnlockCommand } from './vault-unlock.ts';

/** None where the operations have no vault. */
export function vaultCommands(deps: VaultCommandDeps): Command[] {
  if (!deps.operations.some(({ name }) => name === 'vault.unlock')) return [];
  return [...secretPutCommands(deps), ...slotMakingCommands(deps), vaultUnlockCommand(deps), vaultRecoverCommand(deps)];
}
