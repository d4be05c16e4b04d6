// inject disallow: takes a place off the list. It only narrows, so whoever reaches the local socket may.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { decisionOf } from '../decision.ts';
import type { PlacementKeeping } from '../placements.ts';

const input = z.strictObject({
  place: z.string().min(1).max(4_096).meta({ format: 'path' }).describe('As it stands in the list of: inject allowed'),
});
const output = z.strictObject({ disallowed: z.string() });

export function disallowOperation({ placements }: { readonly placements: PlacementKeeping }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'placements.disallow',
    summary: 'Take a place for secrets off the list; files that are there stay.',
    input,
    output,
    effect: 'change',
    access: 'local',
    command: {
      words: 'inject disallow',
      positionals: ['place'],
      draw: ({ disallowed }: { disallowed: string }) => `No secret is placed at ${disallowed} any more.`,
    },
    async run({ place }, context) {
      await placements.disallow(place, decisionOf(context));
      return { disallowed: place };
    },
  });
}
