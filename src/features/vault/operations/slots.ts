// vault slot ls: what opens the vault. The parameters of a passphrase are public: the command line derives with them, so that neither
// passphrase nor anything to guess it from reaches the daemon.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { kdfSchema, readKdf } from '../kdf.ts';
import { slotWords } from '../model.ts';
import type { VaultOperationDeps } from '../operation-deps.ts';
import { slotAnswer, slotOutput } from '../slot-input.ts';

const input = z.strictObject({});
const output = z.array(slotOutput.extend({ kdf: kdfSchema.optional() }));
type Output = z.infer<typeof output>;

export function slotsOperation({ vault }: Pick<VaultOperationDeps, 'vault'>) {
  return defineOperation<z.infer<typeof input>, Output>({
    name: 'vault.slots',
    summary: 'List what opens the vault.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'vault slot ls', draw },
    run: async () =>
      vault.slots.list().map((slot) => {
        const kdf = readKdf(slot.params);
        return { ...slotAnswer(slot), ...(kdf && { kdf }) };
      }),
  });
}

function draw(slots: Output): string {
  if (slots.length === 0) return 'There is no vault yet. It is made with the first: sallyport secret add REF';
  return slots
    .map(({ id, kind, label, created_at }) => `${id}  ${created_at}  ${slotWords[kind]}${label === '' ? '' : ` (${label})`}`)
    .join('\n');
}
