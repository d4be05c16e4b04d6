// vault lock: no secret is handed out any more until somebody opens the vault again. It only narrows.
import { z } from 'zod';
import { actorOf } from '../../../kernel/caller.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { VaultOperationDeps } from '../operation-deps.ts';
import { absent } from '../refusals.ts';

const input = z.strictObject({});
const output = z.strictObject({ state: z.enum(['locked', 'damaged']) });

export function lockOperation({ vault }: Pick<VaultOperationDeps, 'vault'>) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'vault.lock',
    summary: 'Lock the vault; what runs keeps the secrets it was given.',
    input,
    output,
    effect: 'change',
    access: 'local',
    command: { words: 'vault lock', draw: () => 'The vault is locked. Open it with: sallyport vault unlock' },
    async run(_, { caller }) {
      if (vault.state() === 'absent') throw absent();
      await vault.lock(actorOf(caller));
      return { state: vault.state() === 'damaged' ? 'damaged' : 'locked' };
    },
  });
}
