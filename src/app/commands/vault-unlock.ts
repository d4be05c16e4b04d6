// `sallyport vault unlock`: with what the machine keeps, else with a passphrase. What is sent is the secret of one slot, derived here; the
// passphrase stays in this process.
import { z } from 'zod';
import { carrySecrets } from '../../faces/cli/carry-secret.ts';
import type { Command } from '../../faces/cli/command.ts';
import type { Cli, DaemonLine } from '../../faces/cli/ports.ts';
import { kdfSchema } from '../../features/vault/kdf.ts';
import type { SlotKind, VaultState } from '../../features/vault/model.ts';
import { AppError } from '../../kernel/errors.ts';
import { derive, noPassphrase, type VaultCommandDeps } from './vault-parts.ts';

const attempts = 3;

interface Slot {
  readonly id: string;
  readonly kind: SlotKind;
  readonly kdf?: unknown;
}

export function vaultUnlockCommand(deps: VaultCommandDeps): Command {
  return {
    words: ['vault', 'unlock'],
    summary: 'Open the vault, so that secrets can be used.',
    description: [
      'Tries what the machine keeps first, then asks for the vault passphrase, or reads it from SALLYPORT_VAULT_PASSPHRASE_FILE, else from',
      'SALLYPORT_OPERATOR_PASSPHRASE_FILE. With the recovery code: sallyport vault recover.',
    ].join('\n'),
    input: z.strictObject({}),
    positionals: [],
    signed: false,
    async run({ json }, cli) {
      await unlock(deps, cli);
      cli.out(json ? '{"state":"open"}' : 'The vault is open.');
      return 0;
    },
  };
}

async function unlock(deps: VaultCommandDeps, cli: Cli): Promise<void> {
  const { state } = (await cli.daemon.operate('vault.status', {})) as { state: VaultState };
  if (state === 'open') return;
  const slots = await passphraseSlots(cli.daemon);
  try {
    await cli.daemon.operate('vault.unlock', {});
    return;
  } catch (error) {
    if (slots.length === 0 || !(error instanceof AppError && error.code === 'vault.locked')) throw error;
  }
  const fromFile = await deps.passphraseFromFile();
  if (fromFile !== undefined) return openWith(cli.daemon, slots, fromFile);
  const { person } = cli;
  if (person === undefined) throw noPassphrase();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await openWith(cli.daemon, slots, await person.askHidden('Vault passphrase: '));
    } catch (error) {
      const wrong = error instanceof AppError && error.code === 'vault.wrong_key';
      if (!wrong || attempt === attempts) throw error;
      cli.note('That passphrase does not open the vault. Try again.');
    }
  }
}

/** At a start without a person: opens the vault if it waits for a passphrase that a file has; true when it did. */
export async function unlockFromFile(deps: Pick<VaultCommandDeps, 'passphraseFromFile'>, daemon: DaemonLine): Promise<boolean> {
  const { state } = (await daemon.operate('vault.status', {})) as { state: VaultState };
  const slots = state === 'locked' ? await passphraseSlots(daemon) : [];
  const passphrase = slots.length === 0 ? undefined : await deps.passphraseFromFile();
  if (passphrase === undefined) return false;
  await openWith(daemon, slots, passphrase);
  return true;
}

async function passphraseSlots(daemon: DaemonLine): Promise<readonly Slot[]> {
  return ((await daemon.operate('vault.slots', {})) as Slot[]).filter(({ kind }) => kind === 'passphrase');
}

/** With the first slot that this passphrase is of. Rejects with `vault.wrong_key` or `vault.weak_slot`. */
async function openWith(daemon: DaemonLine, slots: readonly Slot[], passphrase: string): Promise<void> {
  let refused: unknown = noUsableSlot();
  for (const { id, kdf } of slots) {
    // Whatever the daemon says: below the floor nothing is derived, or whoever edited a row is handed something cheap to guess from.
    const usable = kdfSchema.safeParse(kdf);
    if (!usable.success) continue;
    const { secrets } = await carrySecrets({ key: await derive(passphrase, usable.data) });
    try {
      await daemon.operate('vault.unlock', { slot: id }, undefined, secrets);
      return;
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'vault.wrong_key')) throw error;
      refused = error;
    } finally {
      secrets['key']?.value.fill(0);
    }
  }
  throw refused;
}

function noUsableSlot(): AppError {
  return new AppError(
    'denied',
    'vault.weak_slot',
    'the passphrase slot was edited and asks for a weaker derivation; it is not used',
    {
      hint: 'Open the vault with another slot, then look at: sallyport audit query',
    },
  );
}
