// defences set: one of them stricter or looser. Either may be what an attacker wants, so it is signed.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { decisionOf } from '../decision.ts';
import type { DefenceSettings } from '../defence-settings.ts';
import { decoyModes, taintModes } from '../model.ts';

const input = z
  .strictObject({
    honeytokens: z.literal(decoyModes).optional().describe('enforce suspends the agent; alert refuses the call and records it.'),
    taint: z.literal(taintModes).optional().describe('enforce asks a person about writes elsewhere; alert only records; off.'),
  })
  .refine(({ honeytokens, taint }) => honeytokens !== undefined || taint !== undefined, 'give --honeytokens or --taint');
const output = z.strictObject({ honeytokens: z.literal(decoyModes), taint: z.literal(taintModes) });

export function setOperation({ settings }: { readonly settings: DefenceSettings }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'defences.set',
    summary: 'Make a defence stricter or looser.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: { words: 'defences set' },
    shown: async () => ({ now: { ...settings.modes() } }),
    async run({ honeytokens, taint }, context) {
      const by = decisionOf(context);
      if (honeytokens !== undefined) await settings.setMode('honeytokens', honeytokens, by);
      if (taint !== undefined) await settings.setMode('taint', taint, by);
      return { ...settings.modes() };
    },
  });
}
