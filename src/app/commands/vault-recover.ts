// `sallyport vault recover`: the way back in with the code on paper, which is used up by it; the next one is shown.
import { z } from 'zod';
import { carrySecrets } from '../../faces/cli/carry-secret.ts';
import type { Command } from '../../faces/cli/command.ts';
import { decide } from '../../faces/cli/operator-flow.ts';
import type { Cli } from '../../faces/cli/ports.ts';
import { recoverySecret } from '../../features/vault/recovery-code.ts';
import type { SlotKind } from '../../features/vault/model.ts';
import { AppError } from '../../kernel/errors.ts';
import { printableJson } from '../../lib/printable.ts';
import { createDigest } from '../../platform/crypto.ts';
import { makeRecoveryCode, operationNamed, withSigner, type VaultCommandDeps } from './vault-parts.ts';

const longestTyped = 256;

export function vaultRecoverCommand(deps: VaultCommandDeps): Command {
  const operation = operationNamed(deps.operations, 'vault.recover');
  return {
    words: ['vault', 'recover'],
    summary: operation.summary,
    description:
      'Asks for the code without showing it, or takes it from standard input. Then give the vault a passphrase: vault slot add passphrase.',
    input: z.strictObject({}),
    positionals: [],
    signed: true,
    async run({ json }, cli) {
      const slot = await recoverySlot(cli);
      const digest = createDigest();
      const key = recoverySecret(await typedCode(deps, cli), digest);
      const { code, shown } = await makeRecoveryCode(cli, json);
      const { commitments, secrets } = await carrySecrets({ key, new_key: recoverySecret(code, digest) });
      const output = await withSigner(deps, cli, (beside) => decide(operation, { slot, ...commitments }, beside, secrets));
      key.fill(0);
      if (json) cli.out(printableJson({ ...(output as object), recovery_code: code }));
      else
        cli.out(
          `The vault is open, and the old code opens nothing any more.${shown ? '' : `\nThe recovery code, shown this once: ${code}`}`,
        );
      return 0;
    },
  };
}

async function recoverySlot({ daemon }: Cli): Promise<string> {
  const slots = (await daemon.operate('vault.slots', {})) as { id: string; kind: SlotKind }[];
  const slot = slots.find(({ kind }) => kind === 'recovery');
  if (slot !== undefined) return slot.id;
  throw new AppError('not_found', 'vault.unknown_slot', 'no recovery code was ever made for this vault', {
    hint: 'See what opens it with: sallyport vault slot ls',
  });
}

async function typedCode(deps: VaultCommandDeps, { person }: Cli): Promise<string> {
  if (person !== undefined) return person.askHidden('Recovery code: ');
  return new TextDecoder().decode(await deps.readInput(longestTyped));
}
