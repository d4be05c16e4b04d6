// Reviews of tool definitions for a person: what is new, changed or gone, place by place. Draws; decides nothing.
import { z } from 'zod';
import { printable, printableLines } from '../../lib/printable.ts';
import { definitionDiff } from './definition-diff.ts';
import type { PinReview } from './model.ts';

export const reviewRow = z.strictObject({
  upstream: z.string(),
  tool: z.string(),
  change: z.enum(['new', 'changed', 'removed']),
  unusable: z.string().optional(),
  accepted_hash: z.string().optional(),
  offered_hash: z.string().optional(),
  differences: z.array(z.strictObject({ at: z.string(), accepted: z.string().optional(), offered: z.string().optional() })),
});
export type ReviewRow = z.infer<typeof reviewRow>;

export function toRow({ upstream, tool, change, unusable, acceptedHash, offeredHash, accepted, offered }: PinReview): ReviewRow {
  return {
    upstream,
    tool,
    change,
    ...(unusable === undefined ? {} : { unusable }),
    ...(acceptedHash === undefined ? {} : { accepted_hash: acceptedHash }),
    ...(offeredHash === undefined ? {} : { offered_hash: offeredHash }),
    differences: change === 'removed' ? [] : definitionDiff(accepted, offered),
  };
}

export function drawReviews(rows: readonly ReviewRow[]): string {
  if (rows.length === 0) return 'Every tool is as it was accepted.';
  return rows.map(drawRow).join('\n\n');
}

function drawRow({ upstream, tool, change, unusable, offered_hash, differences }: ReviewRow): string {
  const head = `${printable(upstream)} ${printable(tool)}: ${change}${offered_hash === undefined ? '' : `, ${offered_hash.slice(0, 16)}`}`;
  const lines = differences.flatMap(({ at, accepted, offered }) => [
    ...(accepted === undefined ? [] : [`  - ${printable(at)}${at === '' ? '' : ': '}${printableLines(accepted)}`]),
    ...(offered === undefined ? [] : [`  + ${printable(at)}${at === '' ? '' : ': '}${printableLines(offered)}`]),
  ]);
  return [head, ...lines, `  ${whatToDo(upstream, tool, change, unusable)}`].join('\n');
}

function whatToDo(upstream: string, tool: string, change: ReviewRow['change'], unusable: string | undefined): string {
  if (unusable !== undefined) return `It cannot be served: ${unusable}.`;
  if (change === 'removed') return 'The upstream no longer offers it; nothing is to be done.';
  return `To accept it: sallyport tools accept ${printable(upstream)} ${printable(tool)}`;
}
