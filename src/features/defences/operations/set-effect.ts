// tools effect: what a tool counts as, whatever its definition says. Signed: a write that counts as a read escapes questions and grades.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { decisionOf } from '../decision.ts';
import type { DefenceSettings } from '../defence-settings.ts';
import { sideEffects } from '../model.ts';

const input = z.strictObject({
  upstream: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'expected the name of an upstream'),
  tool: z.string().min(1).max(256).describe('Under its own name.'),
  effect: z.enum([...sideEffects, 'declared']).describe('declared: as its accepted definition says.'),
});
const output = z.strictObject({ capability: z.string(), effect: z.string() });

export function setEffectOperation({ settings }: { readonly settings: DefenceSettings }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'defences.set-effect',
    summary: 'Say whether a tool reads or writes, whatever it says of itself.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: { words: 'tools effect', positionals: ['upstream', 'tool', 'effect'] },
    shown: async ({ upstream, tool }) => ({ counts_now_as: settings.effects().get(`${upstream}:call:${tool}`) ?? 'declared' }),
    async run({ upstream, tool, effect: wanted }, context) {
      const capability = `${upstream}:call:${tool}`;
      await settings.setEffect(capability, wanted === 'declared' ? undefined : wanted, decisionOf(context));
      return { capability, effect: wanted };
    },
  });
}
