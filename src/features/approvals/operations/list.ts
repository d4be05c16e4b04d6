// approvals list: what waits for a person.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Approvals } from '../approvals.ts';
import { row, toRow, type Row } from '../views.ts';

const input = z.strictObject({
  all: z.boolean().default(false).describe('Also decided and expired ones, the newest 1,000.'),
});

export function listOperation({ approvals }: { readonly approvals: Approvals }) {
  return defineOperation<z.infer<typeof input>, Row[]>({
    name: 'approvals.list',
    summary: 'List the requests that wait for your decision, newest first.',
    input,
    output: z.array(row),
    effect: 'look',
    access: 'local',
    command: { words: 'approvals list' },
    run: async ({ all }) => (await approvals.list({ all })).map(toRow),
  });
}
