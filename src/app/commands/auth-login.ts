// `sallyport auth login`: a person lets the gateway in to an upstream, with a browser on this machine or a code on another device. The login
// is made here; what it brought leaves for the daemon sealed to one decision, and nothing of it is shown.
import { z } from 'zod';
import { carrySecrets } from '../../faces/cli/carry-secret.ts';
import type { Command } from '../../faces/cli/command.ts';
import { decide } from '../../faces/cli/operator-flow.ts';
import type { Cli } from '../../faces/cli/ports.ts';
import { writeRecord, type LoginRecord } from '../../features/auth/oauth2/login-record.ts';
import type { LoginTargetOutput } from '../../features/auth/operations/login-target.ts';
import type { VaultState } from '../../features/vault/model.ts';
import { damaged, locked } from '../../features/vault/refusals.ts';
import { sizeClassOf } from '../../features/vault/secret-value.ts';
import { printable, printableJson } from '../../lib/printable.ts';
import { makeLogin, type LoginParts } from './make-login.ts';
import { operationNamed, withSigner, type VaultCommandDeps } from './vault-parts.ts';

const input = z.strictObject({
  upstream: z.string().describe('The name of the upstream.'),
  device: z.boolean().default(false).describe('With a code that is typed on another device, not with a browser on this machine.'),
  open: z.boolean().default(false).describe('Open the browser, beside showing the URL.'),
});

export function authLoginCommand(deps: VaultCommandDeps, parts: LoginParts): Command {
  const operation = operationNamed(deps.operations, 'auth.login');
  return {
    words: ['auth', 'login'],
    summary: 'Log in to an upstream; the gateway stays logged in from then on.',
    description: [
      'Finds the authorization server of the upstream, and shows an URL to open in a browser of this machine. Without a terminal, or with',
      '--device, it shows a short code to be typed on any other device, where the server has that. The tokens go into the vault with your',
      'signature, are renewed by the gateway, and are shown to the upstream alone. Of a client that was registered by hand and has a secret',
      'the secret is asked for, or taken from standard input.',
    ].join('\n'),
    input,
    positionals: ['upstream'],
    examples: ['auth login notion', 'auth login notion --device'],
    signed: true,
    async run({ given, json }, cli) {
      const { upstream, device, open } = input.parse(given);
      await assertUsable(cli);
      const target = (await cli.daemon.operate('auth.login-target', { upstream })) as LoginTargetOutput;
      await withSigner(deps, cli, async (beside) => {
        const record = await makeLogin(target, { device, open }, beside, { ...parts, readInput: deps.readInput });
        const output = await keep(operation, record, beside);
        const scopes = record.scopes.length === 0 ? '' : ` It may: ${printable(record.scopes.join(' '))}.`;
        cli.out(json ? printableJson(output) : `Logged in to ${upstream} with ${printable(record.issuer)}.${scopes}`);
      });
      return 0;
    },
  };
}

/** Said before anybody goes through a login that could not be kept. */
async function assertUsable({ daemon }: Cli): Promise<void> {
  const { state } = (await daemon.operate('vault.status', {})) as { state: VaultState };
  if (state === 'locked') throw locked();
  if (state === 'damaged') throw damaged();
}

async function keep(operation: Parameters<typeof decide>[0], record: LoginRecord, cli: Cli): Promise<unknown> {
  const login = writeRecord(record);
  try {
    const { commitments, secrets } = await carrySecrets({ login });
    const given = {
      upstream: record.upstream,
      issuer: record.issuer,
      ...(record.resource !== undefined && { resource: record.resource }),
      client: record.client.id,
      scopes: record.scopes,
      size: sizeClassOf(login.length),
      ...commitments,
    };
    return await decide(operation, given, cli, secrets);
  } finally {
    login.fill(0);
  }
}
