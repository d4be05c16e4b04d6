// honeytoken rm: one decoy fewer, which widens and so is signed.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { VaultKeeping } from '../../vault/vault.ts';
import { unknownDecoy, type DecoyKeeping } from '../decoys.ts';
import { decisionOf } from '../decision.ts';

const input = z.strictObject({ name: z.string().min(1).max(128).describe('As honeytoken ls has it.') });
const output = z.strictObject({ removed: z.string() });

export interface TakeInDeps {
  readonly decoys: DecoyKeeping;
  readonly vault: Pick<VaultKeeping, 'known' | 'secrets'>;
}

export function takeInOperation({ decoys, vault }: TakeInDeps) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'defences.take-in',
    summary: 'Take in a honeytoken, and its secret out of the vault.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: { words: 'honeytoken rm', positionals: ['name'] },
    async shown({ name }) {
      const decoy = decoys.list().find(({ ref }) => ref === name);
      if (decoy === undefined) throw unknownDecoy(name);
      return { name, kind: decoy.kind, planted_at: decoy.plantedAt };
    },
    async run({ name }, context) {
      const by = decisionOf(context);
      if (!decoys.has(name)) throw unknownDecoy(name);
      // The secret first: what is left after a crash is watched still.
      if (vault.known(name)) await vault.secrets.remove(name, by);
      await decoys.takeIn(name, by);
      return { removed: name };
    },
  });
}
