// honeytoken discard: the way out where rows of decoys cannot be read and so nothing passes. Fewer decoys, so it is signed.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { decisionOf } from '../decision.ts';
import type { DecoyKeeping } from '../decoys.ts';

const input = z.strictObject({});
const output = z.strictObject({ discarded: z.int() });

export function discardOperation({ decoys }: { readonly decoys: DecoyKeeping }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'defences.discard',
    summary: 'Give up honeytokens whose rows cannot be read, so that agents may go on; their secrets stay.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: { words: 'honeytoken discard' },
    run: async (_, context) => ({ discarded: await decoys.discardUnreadable(decisionOf(context)) }),
  });
}
