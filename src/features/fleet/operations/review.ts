// fleet.review: what differs between the definitions that were accepted and those that are offered, and what to beware of.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { FleetOperationDeps } from '../operation-deps.ts';
import { drawReviews, reviewRow, toRow, warnedRow, type ReviewRow } from '../review-rows.ts';

const input = z.strictObject({ upstream: z.string().optional().describe('Only this upstream.') });

export function reviewOperation({ fleet }: FleetOperationDeps) {
  return defineOperation<z.infer<typeof input>, ReviewRow[]>({
    name: 'fleet.review',
    summary: 'Show tool definitions that are new or changed and wait for you, are left out, or have a warning.',
    input,
    output: z.array(reviewRow),
    effect: 'look',
    access: 'local',
    command: { words: 'tools review', positionals: ['upstream'], draw: drawReviews },
    run: async ({ upstream }) => [...fleet.reviews(upstream).map(toRow), ...fleet.warned(upstream).map(warnedRow)],
  });
}
