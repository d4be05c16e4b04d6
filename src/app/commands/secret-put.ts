// `sallyport secret add` and `secret rotate`: the value comes hidden from a person or from a pipe, and leaves sealed to one decision.
import { z } from 'zod';
import { carrySecrets } from '../../faces/cli/carry-secret.ts';
import type { Command } from '../../faces/cli/command.ts';
import { decide } from '../../faces/cli/operator-flow.ts';
import type { Cli, Person } from '../../faces/cli/ports.ts';
import { maxValueBytes, type VaultState } from '../../features/vault/model.ts';
import { refInput } from '../../features/vault/ref-input.ts';
import { badValue, locked, refExists, unknownRef } from '../../features/vault/refusals.ts';
import { assertValue, sizeClassOf } from '../../features/vault/secret-value.ts';
import { printableJson } from '../../lib/printable.ts';
import { askTwice, operationNamed, withSigner, type VaultCommandDeps } from './vault-parts.ts';

const input = z.strictObject({ ref: refInput });
/** Characters; a prompt takes no more, and what it cut off would be missed too late. */
const longestTyped = 4_000;

export function secretPutCommands(deps: VaultCommandDeps): Command[] {
  return [
    putCommand(deps, 'add', ['secret add github_token', 'secret add deploy_key < key.pem']),
    putCommand(deps, 'rotate', ['secret rotate github_token']),
  ];
}

function putCommand(deps: VaultCommandDeps, verb: 'add' | 'rotate', examples: readonly string[]): Command {
  const operation = operationNamed(deps.operations, `vault.${verb}-secret`);
  return {
    words: ['secret', verb],
    summary: operation.summary,
    description: [
      'Asks for the value without showing it, or takes standard input to its end, without the line break there. The value is never an',
      'argument, and never part of what is signed or recorded.',
    ].join('\n'),
    input,
    positionals: ['ref'],
    examples,
    signed: true,
    async run({ given: typed, json }, cli) {
      const { ref } = input.parse(typed);
      await assertPossible(cli, verb, ref);
      const value = await valueOf(deps, cli.person, ref);
      try {
        assertValue(value);
        const { commitments, secrets } = await carrySecrets({ value });
        const given = { ref, size: sizeClassOf(value.length), ...commitments };
        const output = await withSigner(deps, cli, (beside) => decide(operation, given, beside, secrets));
        cli.out(json ? printableJson(output) : `The secret ${ref} ${verb === 'add' ? 'is in the vault' : 'has its new value'}.`);
      } finally {
        value.fill(0);
      }
      return 0;
    },
  };
}

/** Said before anybody types a value that would not be taken. */
async function assertPossible({ daemon }: Cli, verb: 'add' | 'rotate', ref: string): Promise<void> {
  const { state } = (await daemon.operate('vault.status', {})) as { state: VaultState };
  if (state === 'locked') throw locked();
  const known = ((await daemon.operate('vault.list-secrets', {})) as { ref: string }[]).some((one) => one.ref === ref);
  if (verb === 'add' && known) throw refExists(ref);
  if (verb === 'rotate' && !known) throw unknownRef(ref);
}

async function valueOf(deps: VaultCommandDeps, person: Person | undefined, ref: string): Promise<Uint8Array> {
  if (person === undefined) return deps.readInput(maxValueBytes);
  const typed = await askTwice(person, `Value of ${ref}: `);
  if (typed.length > longestTyped) throw badValue('it is too long to be typed', `Pipe it in: sallyport secret add ${ref} < FILE`);
  return new TextEncoder().encode(typed);
}
