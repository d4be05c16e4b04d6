// inject allowed: where secrets may be placed.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Placements } from '../placements.ts';

const input = z.strictObject({});
const output = z.array(z.strictObject({ place: z.string() }));

export function allowedOperation({ placements }: { readonly placements: Placements }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'placements.allowed',
    summary: 'List the places where secrets may be written to.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'inject allowed' },
    run: async () => placements.destinations().map((place) => ({ place })),
  });
}
