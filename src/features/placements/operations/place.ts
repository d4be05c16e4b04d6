// inject: a person puts a secret into a file, or refreshes one after a rotation. A decision each time: what is released is a value nobody
// has decided about yet.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { actorOf } from '../../../kernel/caller.ts';
import type { Vault } from '../../vault/vault.ts';
import { refName } from '../../vault/model.ts';
import { noteOn, type Plan } from '../model.ts';
import type { Placements } from '../placements.ts';

const path = z.string().min(1).max(4_096).meta({ format: 'path' });
const input = z
  .strictObject({
    ref: z.string().regex(refName, 'expected the name of a secret').optional().describe('The secret.'),
    out: path.optional().describe('The file it goes into, among those of: inject allowed'),
    template: z
      .string()
      .max(65_536)
      .optional()
      .describe('What is written, with {{secret}} where the value goes; default: the value.'),
    template_file: path.optional().describe('A file with that text; wins.'),
    refresh: path.optional().describe('A file placed before: the same with the value of now.'),
  })
  .refine(
    ({ ref, out, template, template_file, refresh }) =>
      refresh === undefined
        ? ref !== undefined && out !== undefined
        : [ref, out, template, template_file].every((one) => one === undefined),
    'give --ref and --out, or --refresh alone',
  );
type Input = z.infer<typeof input>;

export const placedOutput = z.strictObject({
  materialized: z.literal(true),
  out: z.string(),
  sha256: z.string(),
  note: z.string(),
});
export type PlacedOutput = z.infer<typeof placedOutput>;

export interface PlaceDeps {
  readonly placements: Placements;
  readonly vault: Pick<Vault, 'values'>;
}

export function placeOperation({ placements, vault }: PlaceDeps) {
  const planOf = ({ refresh, ref = '', out = '', template, template_file: templateFile }: Input): Promise<Plan> =>
    refresh === undefined ? placements.plan({ ref, out, template, templateFile }) : placements.planAgain(refresh);

  return defineOperation<Input, PlacedOutput>({
    name: 'placements.place',
    summary: 'Put a secret into a file that a program reads it from, or refresh that file after a rotation.',
    input,
    output: placedOutput,
    effect: 'change',
    access: 'operator',
    command: { words: 'inject', draw: ({ out, note }: PlacedOutput) => `${out}: ${note}` },
    shown: async (given) => (await planOf(given)).shown,
    async run(given, { caller, signal, proofFacts }) {
      const plan = await planOf(given);
      const [secret] = await vault.values([plan.ref], { signal });
      if (secret === undefined) throw new Error('the vault gave nothing for a name it knows');
      try {
        const facts = proofFacts === undefined ? {} : { proof: proofFacts };
        const { out, sha256, backedUp } = await placements.place(plan, secret, { actor: actorOf(caller), facts });
        return { materialized: true, out, sha256, note: noteOn(out, backedUp) };
      } finally {
        secret.wipe();
      }
    },
  });
}
