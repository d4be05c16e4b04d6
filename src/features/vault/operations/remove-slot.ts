// vault slot rm: one way less to open the vault, and a new vault key with it.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { slotWords } from '../model.ts';
import type { VaultOperationDeps } from '../operation-deps.ts';
import { decisionOf } from '../ref-input.ts';
import { assertOpen } from '../usable.ts';

const input = z.strictObject({ id: z.uuid('expected the id of a slot, see: sallyport vault slot ls').describe('The slot.') });
const output = z.strictObject({ id: z.string(), removed: z.literal(true) });

export function removeSlotOperation({ vault }: Pick<VaultOperationDeps, 'vault'>) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'vault.remove-slot',
    summary: 'Take a slot away; the vault gets a new key, so that the slot is of no use to whoever kept it.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: {
      words: 'vault slot rm',
      positionals: ['id'],
      draw: ({ id }: { id: string }) => `The slot ${id} opens nothing any more.`,
    },
    async shown({ id }) {
      assertOpen(vault);
      const { kind, label, createdAt } = vault.slots.slot(id);
      return { slot: slotWords[kind], ...(label !== '' && { label }), created_at: createdAt };
    },
    async run({ id }, context) {
      await vault.slots.remove(id, decisionOf(context));
      return { id, removed: true };
    },
  });
}
