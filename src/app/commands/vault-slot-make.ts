// `sallyport vault init` and `vault slot add`: what opens the vault from now on. What people keep is derived here; what the machine keeps
// the daemon fetches itself.
import { z } from 'zod';
import { carrySecrets } from '../../faces/cli/carry-secret.ts';
import type { Command } from '../../faces/cli/command.ts';
import { decide } from '../../faces/cli/operator-flow.ts';
import type { Cli } from '../../faces/cli/ports.ts';
import { slotKinds, slotWords, type SlotKind } from '../../features/vault/model.ts';
import { recoverySecret } from '../../features/vault/recovery-code.ts';
import { printableJson } from '../../lib/printable.ts';
import { createDigest } from '../../platform/crypto.ts';
import { makeRecoveryCode, newPassphraseSecret, operationNamed, type VaultCommandDeps } from './vault-parts.ts';

const label = z.string().max(64).optional().describe('A word for yourself, such as where a recovery code lies.');
const explained = 'key_file: a file of the home, systemd: a credential named sallyport-vault, keychain: of this user';

const initInput = z.strictObject({
  kind: z.enum(slotKinds).exclude(['recovery']).default('key_file').describe(`What opens it. ${explained}.`),
  label,
});
const addInput = z.strictObject({ kind: z.enum(slotKinds).describe(`What opens it as well. ${explained}.`), label });

export function slotMakingCommands(deps: VaultCommandDeps): Command[] {
  return [
    {
      words: ['vault', 'init'],
      summary: operationNamed(deps.operations, 'vault.init').summary,
      description: 'Not needed: the first `secret add` makes a vault that opens at each start with a key file of the home.',
      input: initInput,
      positionals: ['kind'],
      examples: ['vault init passphrase', 'vault init keychain'],
      signed: true,
      async run({ given, json }, cli) {
        const { kind, label: word = '' } = initInput.parse(given);
        const { output } = await make(deps, 'vault.init', { kind, label: word }, cli, json);
        cli.out(json ? printableJson(output) : `The vault is made. It opens with ${slotWords[kind]}.`);
        return 0;
      },
    },
    {
      words: ['vault', 'slot', 'add'],
      summary: operationNamed(deps.operations, 'vault.add-slot').summary,
      description:
        'A passphrase is asked for, or read from SALLYPORT_VAULT_PASSPHRASE_FILE. A recovery code is made and shown once; it replaces the one before.',
      input: addInput,
      positionals: ['kind'],
      examples: ['vault slot add recovery', 'vault slot add passphrase --label desk'],
      signed: true,
      async run({ given, json }, cli) {
        const { kind, label: word = '' } = addInput.parse(given);
        const { output, code } = await make(deps, 'vault.add-slot', { kind, label: word }, cli, json);
        const answer = { ...(output as object), ...(code !== undefined && { recovery_code: code }) };
        const words = `The vault opens with ${slotWords[kind]} as well.`;
        if (json) cli.out(printableJson(answer));
        else cli.out(code === undefined ? words : `${words}\nThe code, shown this once: ${code}`);
        return 0;
      },
    },
  ];
}

/** `code`: a recovery code that nobody has seen yet. */
async function make(
  deps: VaultCommandDeps,
  name: string,
  slot: { readonly kind: SlotKind; readonly label: string },
  cli: Cli,
  json: boolean,
): Promise<{ output: unknown; code?: string }> {
  const operation = operationNamed(deps.operations, name);
  if (slot.kind === 'passphrase') {
    const { kdf, key } = await newPassphraseSecret(deps, cli);
    const { commitments, secrets } = await carrySecrets({ key });
    const output = await decide(operation, { ...slot, kdf, ...commitments }, cli, secrets);
    key.fill(0);
    return { output };
  }
  if (slot.kind === 'recovery') {
    const { code, shown } = await makeRecoveryCode(cli, json);
    const { commitments, secrets } = await carrySecrets({ key: recoverySecret(code, createDigest()) });
    const output = await decide(operation, { ...slot, ...commitments }, cli, secrets);
    return { output, ...(!shown && { code }) };
  }
  return { output: await decide(operation, slot, cli) };
}
