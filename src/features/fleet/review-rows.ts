// Reviews of tool definitions for a person: what is new, changed or gone, place by place, and what is served with a warning. Draws;
// decides nothing.
import { z } from 'zod';
import { printable, printableLines } from '../../lib/printable.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { definitionDiff } from './definition-diff.ts';
import type { CatalogTool, PinReview } from './model.ts';
import { cautionsOf } from './schema-checks.ts';

export const reviewRow = z.strictObject({
  upstream: z.string(),
  tool: z.string(),
  change: z.enum(['new', 'changed', 'removed', 'accepted']),
  unusable: z.string().optional(),
  warnings: z.array(z.string()).optional(),
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
    ...(unusable === undefined ? warningsOf(offered) : { unusable }),
    ...(acceptedHash === undefined ? {} : { accepted_hash: acceptedHash }),
    ...(offeredHash === undefined ? {} : { offered_hash: offeredHash }),
    differences: change === 'removed' ? [] : definitionDiff(accepted, offered),
  };
}

/** Nothing waits for anybody here. */
export function warnedRow({ upstream, tool, hash, warnings }: CatalogTool): ReviewRow {
  return { upstream, tool, change: 'accepted', warnings: [...warnings], accepted_hash: hash, differences: [] };
}

function warningsOf(offered: string | undefined): Pick<ReviewRow, 'warnings'> {
  const warnings = offered === undefined ? [] : cautionsOf(JSON.parse(offered) as JsonObject);
  return warnings.length === 0 ? {} : { warnings };
}

export function drawReviews(rows: readonly ReviewRow[]): string {
  if (rows.length === 0) return 'Every tool is as it was accepted.';
  return rows.map(drawRow).join('\n\n');
}

function drawRow({ upstream, tool, change, unusable, warnings = [], offered_hash, differences }: ReviewRow): string {
  const head = `${printable(upstream)} ${printable(tool)}: ${change}${offered_hash === undefined ? '' : `, ${offered_hash.slice(0, 16)}`}`;
  const lines = differences.flatMap(({ at, accepted, offered }) => [
    ...(accepted === undefined ? [] : [`  - ${printable(at)}${at === '' ? '' : ': '}${printableLines(accepted)}`]),
    ...(offered === undefined ? [] : [`  + ${printable(at)}${at === '' ? '' : ': '}${printableLines(offered)}`]),
  ]);
  const warned = warnings.map((warning) => `  Some clients or model APIs refuse a whole list with it: ${printable(warning)}.`);
  return [head, ...lines, ...warned, `  ${whatToDo(upstream, tool, change, unusable)}`].join('\n');
}

function whatToDo(upstream: string, tool: string, change: ReviewRow['change'], unusable: string | undefined): string {
  if (unusable !== undefined) return `It is left out: ${printable(unusable)}. Nobody can accept it: only its authors can mend it.`;
  if (change === 'accepted') return 'It is served. If your client fails for it, expose the others only, with exposeTools.';
  if (change === 'removed') return 'The upstream no longer offers it; nothing is to be done.';
  return `To accept it: sallyport tools accept ${printable(upstream)} ${printable(tool)}`;
}
