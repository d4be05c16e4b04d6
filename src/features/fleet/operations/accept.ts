// fleet.accept: lets an entry of sallyport.yaml run as it stands there now.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { acceptedAnswer, acceptedOutput, decisionOf, drawAccepted, type AcceptedOutput } from '../acceptance-facts.ts';
import type { FleetOperationDeps } from '../operation-deps.ts';
import type { Acceptable } from '../roster.ts';
import { createShownMemory } from '../shown-memory.ts';

const input = z.strictObject({ name: z.string().describe('An upstream of sallyport.yaml.') });
type Input = z.infer<typeof input>;

export function acceptOperation({ fleet }: FleetOperationDeps) {
  const memory = createShownMemory<Input, Acceptable>();
  return defineOperation<Input, AcceptedOutput>({
    name: 'fleet.accept',
    summary: 'Accept an upstream of sallyport.yaml as it stands there now.',
    input,
    output: acceptedOutput,
    effect: 'change',
    access: 'operator',
    command: { words: 'upstream accept', positionals: ['name'], draw: drawAccepted },
    async shown(wanted) {
      await fleet.reload();
      const what = await fleet.proposal(fleet.standing(wanted.name).spec);
      return fleet.facts(memory.keep(wanted, what));
    },
    async run(wanted, context) {
      const what = memory.recall(wanted);
      return acceptedAnswer(what, await fleet.accept(what, decisionOf(context), false));
    },
  });
}
