// fleet.remove: takes an upstream out of sallyport.yaml, with its acceptance, and stops it. Its pins stay, should it come back.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { decisionOf } from '../acceptance-facts.ts';
import type { FleetOperationDeps } from '../operation-deps.ts';
import { notFound } from '../refusals.ts';

const input = z.strictObject({ name: z.string().describe('An upstream of sallyport.yaml.') });
const output = z.strictObject({ upstream: z.string(), removed: z.literal(true) });

export function removeOperation({ fleet }: FleetOperationDeps) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'fleet.remove',
    summary: 'Stop an upstream and take it out of sallyport.yaml.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: {
      words: 'upstream rm',
      positionals: ['name'],
      draw: ({ upstream }: z.infer<typeof output>) => `${upstream} was stopped and removed.`,
    },
    async shown({ name }) {
      const status = fleet.status().find((candidate) => candidate.name === name);
      if (status === undefined) throw notFound(name);
      const { command, origin } = status;
      return {
        upstream: name,
        ...(command === undefined ? {} : { runs: command }),
        ...(origin === undefined ? {} : { connects: origin }),
      };
    },
    async run({ name }, context) {
      await fleet.remove(name, decisionOf(context));
      return { upstream: name, removed: true };
    },
  });
}
