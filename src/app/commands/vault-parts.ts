// What the commands of the vault have in common: operations by name, values from a person or a pipe, secrets of slots from what people
// keep. Passphrases and recovery codes are derived here and never reach the daemon.
import type { Cli, Person } from '../../faces/cli/ports.ts';
import { newKdf, type PassphraseKdf } from '../../features/vault/kdf.ts';
import { newRecoveryCode, recoveryGroups } from '../../features/vault/recovery-code.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Operation } from '../../kernel/operation.ts';
import { encodeBase64url } from '../../lib/base64url.ts';
import { argon2id } from '../../platform/argon2id.ts';
import { createDigest, createEntropy } from '../../platform/crypto.ts';
import { assertStrongPassphrase, shortestPassphrase } from '../../platform/operator-key.ts';

export interface VaultCommandDeps {
  readonly operations: readonly Operation[];
  /** What is piped in; bounded, and without the line break at its end. */
  readonly readInput: (maxBytes: number) => Promise<Uint8Array>;
  /** The passphrase of SALLYPORT_VAULT_PASSPHRASE_FILE, else of SALLYPORT_OPERATOR_PASSPHRASE_FILE. */
  readonly passphraseFromFile: () => Promise<string | undefined>;
  /** The person at the terminal of this session, where standard input is a pipe. */
  readonly personBesidePipe: () => Person | undefined;
}

export function operationNamed(operations: readonly Operation[], name: string): Operation {
  const operation = operations.find((one) => one.name === name);
  if (operation === undefined) throw new Error(`there is no operation ${name}`);
  return operation;
}

/** With the person who signs: the one at the terminal, also where standard input is a pipe. */
export async function withSigner<T>(deps: VaultCommandDeps, cli: Cli, work: (cli: Cli) => Promise<T>): Promise<T> {
  const person = cli.person ?? deps.personBesidePipe();
  try {
    return await work({ ...cli, person });
  } finally {
    person?.release();
  }
}

/** Twice, so that nobody seals a slip of the pen. Throws `cli.differ` (kind invalid). */
export async function askTwice(person: Person, prompt: string): Promise<string> {
  const first = await person.askHidden(prompt);
  if ((await person.askHidden('The same again: ')) === first) return first;
  throw new AppError('invalid', 'cli.differ', 'the two differ; nothing was done', {
    hint: 'A text of several lines cannot be typed; pipe it in instead.',
  });
}

export function derive(passphrase: string, kdf: PassphraseKdf): Promise<Uint8Array> {
  const { memory_kib: memoryKiB, passes, parallelism } = kdf;
  return argon2id(passphrase, Buffer.from(kdf.salt, 'base64url'), { memoryKiB, passes, parallelism });
}

/** The secret of a new passphrase slot, from the file or the person. Throws `cli.no_passphrase` when neither is there. */
export async function newPassphraseSecret(
  deps: VaultCommandDeps,
  cli: Cli,
): Promise<{ readonly kdf: PassphraseKdf; readonly key: Uint8Array }> {
  const passphrase = (await deps.passphraseFromFile()) ?? (await askNewPassphrase(cli));
  assertStrongPassphrase(passphrase);
  const kdf = newKdf(encodeBase64url(createEntropy().bytes(16)));
  return { kdf, key: await derive(passphrase, kdf) };
}

function askNewPassphrase(cli: Cli): Promise<string> {
  if (cli.person === undefined) throw noPassphrase();
  cli.note(`Choose the vault passphrase, another one than the operator’s: at least ${shortestPassphrase} characters.`);
  return askTwice(cli.person, 'New vault passphrase: ');
}

export function noPassphrase(): AppError {
  return new AppError('denied', 'cli.no_passphrase', 'there is no terminal to ask for the vault passphrase', {
    hint: 'Run it at a terminal, or set SALLYPORT_VAULT_PASSPHRASE_FILE to a file with the passphrase that only you can read (chmod 600).',
  });
}

/**
 * A new recovery code. At a terminal it is shown now and two of its groups are typed back, before anything is done; elsewhere it comes
 * with the answer, and is in nothing else.
 */
export async function makeRecoveryCode(cli: Cli, json: boolean): Promise<{ readonly code: string; readonly shown: boolean }> {
  const code = newRecoveryCode(createEntropy(), createDigest());
  if (json || cli.person === undefined) return { code, shown: false };
  cli.note(`The recovery code, shown this once:\n\n    ${code}\n\nWrite it on paper and keep it away from this machine.`);
  const groups = recoveryGroups(code);
  for (const at of [2, 6]) {
    const typed = await cli.person.ask(`Group ${at + 1} of it: `);
    if (typed.trim().toUpperCase() !== groups[at]) {
      throw new AppError('invalid', 'cli.differ', 'that is not what is written there; nothing was done', {
        hint: 'Run the command again: it makes another code.',
      });
    }
  }
  return { code, shown: true };
}
