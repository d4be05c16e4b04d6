// defences, defences set, tools effect: how strict the defences are and what tools count as. Looking is free; each change is signed.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { decisionOf } from '../decision.ts';
import type { DefenceSettings } from '../defence-settings.ts';
import { decoyModes, sideEffects, taintModes } from '../model.ts';
import type { Taint } from '../taint.ts';

const nothing = z.strictObject({});
const overview = z.strictObject({
  honeytokens: z.literal(decoyModes),
  taint: z.literal(taintModes),
  tainted: z.array(z.strictObject({ agent: z.string(), upstream: z.string(), pattern: z.string(), until: z.string() })),
  side_effects: z.array(z.strictObject({ capability: z.string(), effect: z.literal(sideEffects) })),
});
const modes = z
  .strictObject({
    honeytokens: z.literal(decoyModes).optional().describe('enforce suspends the agent; alert refuses the call and records it.'),
    taint: z.literal(taintModes).optional().describe('enforce asks a person about writes elsewhere; alert only records; off.'),
  })
  .refine(({ honeytokens, taint }) => honeytokens !== undefined || taint !== undefined, 'give --honeytokens or --taint');
const set = z.strictObject({ honeytokens: z.literal(decoyModes), taint: z.literal(taintModes) });
const effect = z.strictObject({
  upstream: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'expected the name of an upstream'),
  tool: z.string().min(1).max(256).describe('Under its own name.'),
  effect: z.enum([...sideEffects, 'declared']).describe('declared: as its accepted definition says.'),
});
const effectSet = z.strictObject({ capability: z.string(), effect: z.string() });

export interface SettingsDeps {
  readonly settings: DefenceSettings;
  readonly taint: Taint;
}

export function overviewOperation({ settings, taint }: SettingsDeps) {
  return defineOperation<z.infer<typeof nothing>, z.infer<typeof overview>>({
    name: 'defences.overview',
    summary: 'Show how strict the defences are, which agents are tainted, and which tools count otherwise than they say.',
    input: nothing,
    output: overview,
    effect: 'look',
    access: 'local',
    command: { words: 'defences' },
    run: async () => ({
      ...settings.modes(),
      tainted: taint.marks().map((mark) => ({ ...mark, until: new Date(mark.until).toISOString() })),
      side_effects: [...settings.effects()].map(([capability, one]) => ({ capability, effect: one })),
    }),
  });
}

export function setModesOperation({ settings }: Pick<SettingsDeps, 'settings'>) {
  return defineOperation<z.infer<typeof modes>, z.infer<typeof set>>({
    name: 'defences.set',
    summary: 'Make a defence stricter or looser.',
    input: modes,
    output: set,
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

export function setEffectOperation({ settings }: Pick<SettingsDeps, 'settings'>) {
  return defineOperation<z.infer<typeof effect>, z.infer<typeof effectSet>>({
    name: 'defences.set-effect',
    summary: 'Say whether a tool reads or writes, whatever it says of itself.',
    input: effect,
    output: effectSet,
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
