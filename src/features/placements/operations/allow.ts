// inject allow: one more place that secrets may be written to. That widens, so it is the operator's.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { decisionOf } from '../decision.ts';
import { destinationEntry } from '../destination.ts';
import type { PlacementKeeping } from '../placements.ts';

const input = z.strictObject({
  place: z
    .string()
    .min(1)
    .max(4_096)
    .meta({ format: 'path' })
    .describe("One file, or DIR/** for everything below a folder; quote it, so that the shell leaves '**' alone."),
});
const output = z.strictObject({ allowed: z.string() });

export function allowOperation({ placements }: { readonly placements: PlacementKeeping }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'placements.allow',
    summary: 'Allow a file or folder as a place for secrets; each use is still decided.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: {
      words: 'inject allow',
      positionals: ['place'],
      draw: ({ allowed }: { allowed: string }) => `Secrets may be placed at ${allowed}.`,
    },
    shown: async ({ place }) => ({ place: destinationEntry(place), allowed_already: [...placements.destinations()] }),
    async run({ place }, context) {
      await placements.allow(place, decisionOf(context));
      return { allowed: place };
    },
  });
}
