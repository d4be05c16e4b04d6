// secret rotate: another value under a name that is there. What is bound to the name is sent the new one from then on.
import { defineOperation } from '../../../kernel/operation.ts';
import type { VaultOperationDeps } from '../operation-deps.ts';
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
import { unknownRef } from '../refusals.ts';
import { assertOpen } from '../usable.ts';

export function rotateSecretOperation({ vault, boundTo }: Pick<VaultOperationDeps, 'vault' | 'boundTo'>) {
  return defineOperation<RefAndValue, RefOutput>({
    name: 'vault.rotate-secret',
    summary: 'Replace the value of a secret; the one before stays masked in results for a day.',
    input: refAndValue,
    output: refOutput,
    effect: 'change',
    access: 'operator',
    secrets: () => ['value'],
    async shown(input) {
      assertOpen(vault);
      const now = vault.secrets.list().find(({ ref }) => ref === input.ref);
      if (now === undefined) throw unknownRef(input.ref);
      return { ...valueFacts(input), replaces_version: now.version, used_by: [...boundTo(input.ref)] };
    },
    async run({ ref, size }, context) {
      return refAnswer(await vault.secrets.rotate(ref, valueOf(size, context), decisionOf(context)));
    },
  });
}
