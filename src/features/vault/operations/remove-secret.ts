// secret rm: the value and its name go; whoever was given it is told by the slices that gave it.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { VaultOperationDeps } from '../operation-deps.ts';
import { decisionOf, oneRef } from '../ref-input.ts';
import { unknownRef } from '../refusals.ts';
import { assertOpen } from '../usable.ts';

const output = z.strictObject({ ref: z.string(), removed: z.literal(true) });

export function removeSecretOperation({ vault, boundTo }: Pick<VaultOperationDeps, 'vault' | 'boundTo'>) {
  return defineOperation<z.infer<typeof oneRef>, z.infer<typeof output>>({
    name: 'vault.remove-secret',
    summary: 'Remove a secret and its value from the vault.',
    input: oneRef,
    output,
    effect: 'change',
    access: 'operator',
    command: {
      words: 'secret rm',
      positionals: ['ref'],
      draw: ({ ref }: { ref: string }) => `The secret ${ref} is removed.`,
    },
    async shown({ ref }) {
      assertOpen(vault);
      const now = vault.secrets.list().find((one) => one.ref === ref);
      if (now === undefined) throw unknownRef(ref);
      return { ref, version: now.version, used_by: [...boundTo(ref)] };
    },
    async run({ ref }, context) {
      await vault.secrets.remove(ref, decisionOf(context));
      return { ref, removed: true };
    },
  });
}
