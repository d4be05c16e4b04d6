// fleet.accept-tools: accepts new or changed tool definitions, exactly those whose differences and hashes were shown.
import { z } from 'zod';
import type { JsonObject } from '../../../kernel/json.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import { decisionOf } from '../acceptance-facts.ts';
import type { PinReview } from '../model.ts';
import type { FleetOperationDeps } from '../operation-deps.ts';
import { badSpec } from '../refusals.ts';
import { toRow } from '../review-rows.ts';
import { createShownMemory } from '../shown-memory.ts';

const input = z.strictObject({
  upstream: z.string().describe('An upstream of sallyport.yaml.'),
  tool: z.string().optional().describe('The tool, under the name the upstream gives it.'),
  all: z.boolean().default(false).describe('Everything that waits and can be served.'),
});
type Input = z.infer<typeof input>;

const output = z.strictObject({ upstream: z.string(), accepted: z.array(z.strictObject({ tool: z.string(), hash: z.string() })) });
type Output = z.infer<typeof output>;

type Offer = Output['accepted'][number];

export function acceptToolsOperation({ fleet }: FleetOperationDeps) {
  const memory = createShownMemory<Input, readonly Offer[]>();

  function wanted({ upstream, tool, all }: Input): readonly PinReview[] {
    if ((tool === undefined) !== all)
      throw badSpec('Say which tool, or --all, not both.', `sallyport tools accept ${upstream} TOOL`);
    const waiting = fleet.reviews(upstream).filter(({ change }) => change !== 'removed');
    const found = all ? waiting.filter(({ unusable }) => unusable === undefined) : waiting.filter((review) => review.tool === tool);
    const unusable = found.find((review) => review.unusable !== undefined)?.unusable;
    if (unusable !== undefined)
      throw badSpec(`'${tool ?? ''}' cannot be served: ${unusable}.`, 'Nobody can accept it: only its authors can mend it.');
    if (found.length === 0) throw badSpec('Nothing of that name waits to be accepted.', `See: sallyport tools review ${upstream}`);
    return found;
  }

  return defineOperation<Input, Output>({
    name: 'fleet.accept-tools',
    summary: 'Accept new or changed tool definitions after looking at what differs.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: {
      words: 'tools accept',
      positionals: ['upstream', 'tool'],
      draw: ({ upstream, accepted }: Output) => `${upstream}: accepted ${accepted.map(({ tool }) => tool).join(', ')}.`,
    },
    async shown(which): Promise<JsonObject> {
      const reviews = wanted(which);
      memory.keep(
        which,
        reviews.map(({ tool, offeredHash }) => ({ tool, hash: offeredHash ?? '' })),
      );
      const definitions = reviews.map(toRow).map(({ upstream: _upstream, ...row }) => row);
      return { upstream: which.upstream, definitions } as unknown as JsonObject;
    },
    async run(which, context) {
      const offers = memory.recall(which);
      await fleet.acceptTools(which.upstream, offers, decisionOf(context));
      return { upstream: which.upstream, accepted: [...offers] };
    },
  });
}
