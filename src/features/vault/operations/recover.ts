// vault recover: opens the vault with the recovery code, which is used up by it; a new one takes its place.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { VaultOperationDeps } from '../operation-deps.ts';
import { commitment, decisionOf } from '../ref-input.ts';
import { unknownSlot } from '../refusals.ts';
import { slotAnswer, slotOutput } from '../slot-input.ts';

/** The secrets `key`, of the code there is, and `new_key`, of the one that takes its place, travel beside it. */
const input = z.strictObject({ slot: z.uuid(), key_commitment: commitment, new_key_commitment: commitment });
const output = z.strictObject({ state: z.literal('open'), slots: z.array(slotOutput) });

export function recoverOperation({ vault }: Pick<VaultOperationDeps, 'vault'>) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'vault.recover',
    summary: 'Open the vault with the recovery code, and get a new one.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    secrets: () => ['key', 'new_key'],
    async shown({ slot }) {
      const { createdAt, kind } = vault.slots.slot(slot);
      if (kind !== 'recovery') throw unknownSlot(slot);
      return { uses_up: `the recovery code of ${createdAt}`, opens_with: 'a new recovery code in its place' };
    },
    async run({ slot }, context) {
      const fresh = {
        kind: 'recovery',
        label: '',
        params: '{}',
        secret: new Uint8Array(context.secrets?.['new_key'] ?? []),
      } as const;
      await vault.slots.recover(slot, context.secrets?.['key'] ?? new Uint8Array(), fresh, decisionOf(context));
      return { state: 'open', slots: vault.slots.list().map(slotAnswer) };
    },
  });
}
