// honeytoken ls: which secrets are decoys. Signed, although it changes nothing: the list is worth more to a thief than any secret on it.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { DecoyKeeping } from '../decoys.ts';
import { decoyKinds } from '../model.ts';

const input = z.strictObject({});
const output = z.array(
  z.strictObject({
    name: z.string(),
    kind: z.literal(decoyKinds),
    agent: z.string().optional(),
    upstream: z.string().optional(),
    planted_at: z.string(),
  }),
);

export function listDecoysOperation({ decoys }: { readonly decoys: DecoyKeeping }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'defences.list-decoys',
    summary: 'List the honeytokens; nothing else tells them from other secrets.',
    input,
    output,
    effect: 'look',
    access: 'operator',
    command: { words: 'honeytoken ls' },
    run: async () =>
      decoys.list().map(({ ref, kind, agent, upstream, plantedAt }) => ({
        name: ref,
        kind,
        ...(agent !== undefined && { agent }),
        ...(upstream !== undefined && { upstream }),
        planted_at: plantedAt,
      })),
  });
}
