// vault unlock: opens the vault with what the machine keeps, or with the secret of a slot that a person brought. It widens nothing, what a
// value may be used for is signed elsewhere; so whoever reaches the local socket and has such a secret may.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { VaultOperationDeps } from '../operation-deps.ts';
import { absent, locked } from '../refusals.ts';
import type { VaultKeeping } from '../vault.ts';

/** The secret `key` of the slot travels beside it. */
const input = z.strictObject({
  slot: z.uuid().optional().describe('The slot; without one, those that the machine opens are tried.'),
});
const output = z.strictObject({ state: z.literal('open') });

export function unlockOperation({ vault }: Pick<VaultOperationDeps, 'vault'>) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'vault.unlock',
    summary: 'Open the vault, so that secrets can be used.',
    input,
    output,
    effect: 'change',
    access: 'local',
    secrets: ({ slot }) => (slot === undefined ? [] : ['key']),
    async run({ slot }, { secrets }) {
      if (vault.state() === 'absent') throw absent();
      if (slot !== undefined) await vault.open(slot, secrets?.['key'] ?? new Uint8Array());
      else if (vault.state() !== 'open' && !(await vault.slots.openByMachine())) throw notOpened(vault);
      return { state: 'open' };
    },
  });
}

function notOpened(vault: VaultKeeping): AppError {
  const [first] = vault.slots.failures();
  if (first === undefined) return locked();
  return new AppError('unavailable', 'vault.locked', `The vault stays locked. ${first.reason}`, {
    hint: 'See what opens it with: sallyport vault slot ls',
  });
}
