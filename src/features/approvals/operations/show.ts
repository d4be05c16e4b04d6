// approvals show: one request whole, with what approving it would buy.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Approvals } from '../approvals.ts';
import type { Decisions } from '../decisions.ts';
import { purchase } from '../model.ts';
import { approvalId, toWhole, whole, type Whole } from '../views.ts';

const input = z.strictObject({ id: approvalId });

export function showOperation({ approvals }: { readonly approvals: Approvals & Decisions }) {
  return defineOperation<z.infer<typeof input>, Whole>({
    name: 'approvals.show',
    summary: 'Show one request whole: who asks for what, with which arguments, and what approving it buys.',
    input,
    output: whole,
    effect: 'look',
    access: 'local',
    command: { words: 'approvals show', positionals: ['id'], draw },
    async run({ id }) {
      const approval = await approvals.get(id);
      if (approval !== undefined) return toWhole(approval, purchase(approval, approval.ttlMs, approvals.windowMs(approval)));
      throw new AppError('not_found', 'approvals.not_found', `There is no approval '${id}'.`, {
        hint: 'List them with: sallyport approvals list --all',
      });
    },
  });
}

/** Lines of a label and a value; arguments and guards as JSON, so that a text "1" is not taken for a number 1. */
function draw(output: Whole): string {
  const { args, guards, reason, ...facts } = output;
  const lines = Object.entries(facts).map(([key, value]) => `${key.replaceAll('_', ' ').padEnd(16)}${String(value)}`);
  lines.push(`the agent says  ${reason === '' ? '(nothing)' : `“${reason}”`}`);
  for (const [label, value] of [
    ['guards', guards],
    ['arguments', args],
  ] as const) {
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    lines.push(
      label,
      ...JSON.stringify(value, undefined, 2)
        .split('\n')
        .map((line) => `  ${line}`),
    );
  }
  return lines.join('\n');
}
