// Secrets that came beside an input: exactly those the operation declares, and for a signed one exactly those that were committed to.
// Knows what none of them is, and says of none what it holds.
import { commitmentField, commitmentInput, type CarriedSecrets } from '../../kernel/carried-secret.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Operation } from '../../kernel/operation.ts';
import type { Digest } from '../../kernel/ports.ts';
import { encodeBase64url } from '../../lib/base64url.ts';

/** By name, not copied. Throws `gateway.misuse` for others than declared, `gateway.other_secret` for others than signed. */
export function carriedSecrets(
  operation: Operation,
  input: unknown,
  carried: CarriedSecrets,
  digest: Pick<Digest, 'sha256'>,
): Readonly<Record<string, Uint8Array>> {
  const wanted = operation.secrets?.(input) ?? [];
  const came = Object.keys(carried);
  if (came.length !== wanted.length || !wanted.every((name) => Object.hasOwn(carried, name))) throw otherNames(operation, wanted);
  return Object.fromEntries(
    Object.entries(carried).map(([name, secret]) => {
      const signed = operation.access === 'operator' ? (input as Record<string, unknown>)[commitmentField(name)] : undefined;
      if (operation.access === 'operator' && commitmentOf(digest, name, secret) !== signed) throw otherSecret(operation);
      return [name, secret.value];
    }),
  );
}

export function wipe(carried: CarriedSecrets | undefined): void {
  for (const { value, salt } of Object.values(carried ?? {})) {
    value.fill(0);
    salt.fill(0);
  }
}

function commitmentOf(digest: Pick<Digest, 'sha256'>, name: string, secret: CarriedSecrets[string]): string {
  const bytes = commitmentInput(name, secret);
  const text = encodeBase64url(digest.sha256(bytes));
  bytes.fill(0);
  return text;
}

function otherNames({ name }: Operation, wanted: readonly string[]): AppError {
  const takes = wanted.length === 0 ? 'takes no secret beside this input' : `needs beside this input: ${wanted.join(', ')}`;
  return new AppError('invalid', 'gateway.misuse', `'${name}' ${takes}.`, {
    hint: 'Run it with the sallyport command, which asks for the value.',
  });
}

function otherSecret({ name }: Operation): AppError {
  return new AppError('denied', 'gateway.other_secret', `The secret that came with '${name}' is not the one that was signed.`, {
    hint: 'Run the command again; nothing was done.',
  });
}
