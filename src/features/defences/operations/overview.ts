// defences: how strict they are, whom they watch, and which tools count otherwise than they say.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { DefenceSettings } from '../defence-settings.ts';
import { decoyModes, sideEffects, taintModes } from '../model.ts';
import type { Taint } from '../taint.ts';

const input = z.strictObject({});
const output = z.strictObject({
  honeytokens: z.literal(decoyModes),
  taint: z.literal(taintModes),
  tainted: z.array(z.strictObject({ agent: z.string(), upstream: z.string(), pattern: z.string(), until: z.string() })),
  side_effects: z.array(z.strictObject({ capability: z.string(), effect: z.literal(sideEffects) })),
});

export interface OverviewDeps {
  readonly settings: DefenceSettings;
  readonly taint: Taint;
}

export function overviewOperation({ settings, taint }: OverviewDeps) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'defences.overview',
    summary: 'Show how strict the defences are, which agents are tainted, and which tools count otherwise than they say.',
    input,
    output,
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
