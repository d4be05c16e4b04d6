// vault slot add: one more way to open the vault.
import type { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { VaultOperationDeps } from '../operation-deps.ts';
import { decisionOf } from '../ref-input.ts';
import { newSlotOf, opensWith, secretsOf, slotAnswer, slotInput, slotOutput, type SlotInput } from '../slot-input.ts';
import { assertOpen } from '../usable.ts';

export function addSlotOperation({ vault }: Pick<VaultOperationDeps, 'vault'>) {
  return defineOperation<SlotInput, z.infer<typeof slotOutput>>({
    name: 'vault.add-slot',
    summary: 'Let something more open the vault.',
    input: slotInput,
    output: slotOutput,
    effect: 'change',
    access: 'operator',
    secrets: secretsOf,
    async shown({ kind, label }) {
      assertOpen(vault);
      const old = kind === 'recovery' && vault.slots.list().some((slot) => slot.kind === 'recovery');
      return {
        opens_with: opensWith(kind),
        ...(label !== '' && { label }),
        ...(old && { replaces: 'the recovery code there is, which opens nothing from then on' }),
      };
    },
    async run(input, context) {
      return slotAnswer(await vault.slots.add(newSlotOf(input, context), decisionOf(context)));
    },
  });
}
