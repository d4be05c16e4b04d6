// secret add: a new value under a new name. The first one makes the vault, so that a newcomer needs one command.
import { defineOperation } from '../../../kernel/operation.ts';
import type { VaultOperationDeps } from '../operation-deps.ts';
import { refExists } from '../refusals.ts';
import {
  decisionOf,
  refAndValue,
  refAnswer,
  refOutput,
  valueFacts,
  valueOf,
  type RefAndValue,
  type RefOutput,
} from '../ref-input.ts';
import { opensWith } from '../slot-input.ts';
import { assertOpenOrAbsent } from '../usable.ts';

export function addSecretOperation({ vault }: Pick<VaultOperationDeps, 'vault'>) {
  return defineOperation<RefAndValue, RefOutput>({
    name: 'vault.add-secret',
    summary: 'Put a secret into the vault under a new name; nothing uses it until it is bound.',
    input: refAndValue,
    output: refOutput,
    effect: 'change',
    access: 'operator',
    secrets: () => ['value'],
    async shown(input) {
      assertOpenOrAbsent(vault);
      if (vault.known(input.ref)) throw refExists(input.ref);
      const isFirst = vault.state() === 'absent';
      return { ...valueFacts(input), ...(isFirst && { vault: `is made with this; it opens with ${opensWith('key_file')}` }) };
    },
    async run({ ref, size }, context) {
      const value = valueOf(size, context);
      const by = decisionOf(context);
      if (vault.state() === 'absent') {
        await vault.slots.create([{ kind: 'key_file', label: '', params: '{}', secret: undefined }], by);
      }
      return refAnswer(await vault.secrets.add(ref, value, by));
    },
  });
}
