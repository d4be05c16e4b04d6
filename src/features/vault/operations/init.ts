// vault init: makes the vault with another slot than the one that the first secret would bring.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { VaultOperationDeps } from '../operation-deps.ts';
import { decisionOf } from '../ref-input.ts';
import { exists } from '../refusals.ts';
import { newSlotOf, opensWith, secretsOf, slotAnswer, slotInput, slotOutput, type SlotInput } from '../slot-input.ts';

const output = z.strictObject({ state: z.literal('open'), slots: z.array(slotOutput) });

export function initOperation({ vault }: Pick<VaultOperationDeps, 'vault'>) {
  return defineOperation<SlotInput, z.infer<typeof output>>({
    name: 'vault.init',
    summary: 'Make the vault, and choose what opens it.',
    input: slotInput,
    output,
    effect: 'change',
    access: 'operator',
    secrets: secretsOf,
    async shown({ kind, label }) {
      if (vault.state() !== 'absent') throw exists();
      return { opens_with: opensWith(kind), ...(label !== '' && { label }) };
    },
    async run(input, context) {
      await vault.slots.create([newSlotOf(input, context)], decisionOf(context));
      return { state: 'open', slots: vault.slots.list().map(slotAnswer) };
    },
  });
}
