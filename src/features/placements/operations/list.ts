// inject ls: the files that secrets were placed in.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { PlacementKeeping } from '../placements.ts';

const input = z.strictObject({});
const placed = z.array(
  z.strictObject({
    out: z.string(),
    ref: z.string(),
    version: z.int(),
    newest: z.boolean().describe('False after a rotation: refresh it.'),
    placed_at: z.string(),
  }),
);

export interface ListDeps {
  readonly placements: PlacementKeeping;
  /** The version a secret has now. */
  readonly versionOf: (ref: string) => number | undefined;
}

export function listOperation({ placements, versionOf }: ListDeps) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof placed>>({
    name: 'placements.list',
    summary: 'List the files that secrets were placed in.',
    input,
    output: placed,
    effect: 'look',
    access: 'local',
    command: { words: 'inject ls' },
    run: async () =>
      (await placements.list()).map(({ out, ref, version, placedAt }) => ({
        out,
        ref,
        version,
        newest: versionOf(ref) === version,
        placed_at: placedAt,
      })),
  });
}
