// secret ls: names, versions, dates and who uses them. Works while the vault is locked, and never shows a value.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { VaultOperationDeps } from '../operation-deps.ts';

const input = z.strictObject({});
const output = z.array(
  z.strictObject({
    ref: z.string(),
    version: z.int(),
    changed_at: z.string(),
    previous_until: z.string().optional().describe('Until when the value before is still masked in results.'),
    bound_to: z.array(z.string()),
  }),
);

export function listSecretsOperation({ vault, boundTo }: Pick<VaultOperationDeps, 'vault' | 'boundTo'>) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'vault.list-secrets',
    summary: 'List the secrets of the vault by name, never by value.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'secret ls' },
    run: async () =>
      vault.secrets.list().map(({ ref, version, changedAt, previousUntil }) => ({
        ref,
        version,
        changed_at: changedAt,
        ...(previousUntil !== undefined && { previous_until: previousUntil }),
        bound_to: [...boundTo(ref)],
      })),
  });
}
