// vault rotate-key: a new vault key for every slot and every value. No passphrase and no recovery code changes with it.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { VaultOperationDeps } from '../operation-deps.ts';
import { decisionOf } from '../ref-input.ts';
import { assertOpen } from '../usable.ts';

const input = z.strictObject({});
const output = z.strictObject({ slots: z.int(), secrets: z.int() });

export function rotateKeyOperation({ vault }: Pick<VaultOperationDeps, 'vault'>) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'vault.rotate-key',
    summary: 'Give the vault a new key; slots and secrets stay.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: { words: 'vault rotate-key', draw: () => 'The vault has a new key; what opened it before opens it still.' },
    async shown() {
      assertOpen(vault);
      return { slots: vault.slots.list().length, secrets: vault.refs().length };
    },
    async run(_, context) {
      await vault.slots.rotateKey(decisionOf(context));
      return { slots: vault.slots.list().length, secrets: vault.refs().length };
    },
  });
}
