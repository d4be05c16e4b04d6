// A decision of the operator, from the command line: the daemon states what would be done, a person reads it, the key signs
// exactly that. Refuses to sign anything it did not ask for.
import { encodeBase64url } from '../../lib/base64url.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { Proof, ProofMethod } from '../../kernel/caller.ts';
import type { CarriedSecrets } from '../../kernel/carried-secret.ts';
import type { Statement } from '../../kernel/dispatch.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/json.ts';
import type { Operation } from '../../kernel/operation.ts';
import { signingInput, statementText } from '../../features/operator/model.ts';
import { drawStatement } from './draw-statement.ts';
import type { Cli, OperatorPen, Person } from './ports.ts';

const attempts = 3;

/**
 * Prepares, shows, signs and runs one operator operation; its output. Rejects with `cli.no_operator_here` when nobody could sign
 * (before anything is prepared or shown), `cli.not_signed` when the person says no, and the daemon's own errors. An attempt that
 * ends for want of the passphrase is made without a signature, so that the daemon refuses it and it is on the record. `secrets` leave
 * only with the signature; `given` holds their commitments.
 */
export async function decide(operation: Operation, given: unknown, cli: Cli, secrets?: CarriedSecrets): Promise<unknown> {
  const orRecorded = <T>(work: Promise<T>): Promise<T> =>
    work.catch(async (why: unknown) => {
      if (!givenUp(why)) await cli.daemon.operate(operation.name, given).catch(() => undefined);
      throw why;
    });
  const fromFile = await orRecorded(passphraseAtHand(cli));
  const statement = await cli.daemon.prepare(operation.name, given);
  assertAsked(statement, operation, given, cli.now());
  if (!(await cli.keyring.exists())) throw keyIsElsewhere(cli.keyring.path);
  cli.note(drawStatement(statement, operation.summary));
  const { pen, method } =
    fromFile === undefined
      ? { pen: await orRecorded(unlockByPerson(cli, cli.person)), method: 'passphrase' as const }
      : { pen: await orRecorded(cli.keyring.unlock(fromFile.passphrase)), method: fromFile.method };
  const proof = await prove(statement, method, pen);
  pen.wipe();
  return cli.daemon.operate(operation.name, given, proof, secrets);
}

/** What the passphrase file says; `undefined` = the person is asked. */
async function passphraseAtHand(cli: Cli): ReturnType<Cli['keyring']['passphraseFromFile']> {
  const fromFile = await cli.keyring.passphraseFromFile();
  if (fromFile === undefined && cli.person === undefined) throw nobodyToSign();
  return fromFile;
}

/** Somebody who may well have the passphrase chose not to go on. */
function givenUp(why: unknown): boolean {
  return why instanceof AppError && (why.code === 'cli.not_signed' || why.code === 'cli.interrupted');
}

/** The proof the daemon verifies: Ed25519 over `signingInput`. */
async function prove(statement: Statement, method: ProofMethod, pen: OperatorPen): Promise<Proof> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(statementText(statement)));
  const signature = encodeBase64url(pen.sign(signingInput(new Uint8Array(hash), method)));
  return { challenge: statement.challenge, method, keyId: pen.keyId, signature };
}

async function unlockByPerson(cli: Cli, person: Person | undefined): Promise<OperatorPen> {
  if (person === undefined) throw nobodyToSign();
  const answer = await person.ask('Sign and do this? [y/N] ');
  if (!/^y(es)?$/i.test(answer.trim())) {
    throw new AppError('denied', 'cli.not_signed', 'not signed; nothing was done');
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await cli.keyring.unlock(await person.askHidden('Operator passphrase: '));
    } catch (error) {
      const wrong = error instanceof AppError && error.code === 'operator.wrong_passphrase';
      if (!wrong || attempt === attempts) throw error;
      cli.note('That passphrase does not open the key. Try again.');
    }
  }
}

/** A daemon that answers with another operation or input than asked for gets no signature. */
function assertAsked(statement: Statement, operation: Operation, given: unknown, now: number): void {
  const asked = canonicalJson(asJson(operation.input.parse(given)));
  const same =
    statement.v === 1 &&
    statement.purpose === 'sallyport/operator-statement' &&
    statement.operation === operation.name &&
    canonicalJson(asJson(statement.input)) === asked;
  if (!same) {
    throw new AppError(
      'conflict',
      'cli.other_statement',
      'the daemon wants another thing signed than what was asked; nothing was signed',
      {
        hint: 'If Sallyport was just updated, restart the daemon (sallyport down, sallyport up). Otherwise do not trust this daemon.',
      },
    );
  }
  if (!(Date.parse(statement.expiresAt) > now)) {
    throw new AppError('conflict', 'cli.statement_expired', 'the statement to sign has expired already', {
      hint: 'Check the clock of this machine and try again.',
    });
  }
}

function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value ?? {})) as Json;
}

function nobodyToSign(): AppError {
  return new AppError(
    'denied',
    'cli.no_operator_here',
    'this is the operator’s decision, and there is no terminal to ask for the passphrase',
    {
      hint: 'Run it at a terminal, or set SALLYPORT_OPERATOR_PASSPHRASE_FILE to a file with the passphrase that only you can read (chmod 600).',
    },
  );
}

function keyIsElsewhere(path: string): AppError {
  return new AppError('not_found', 'cli.no_operator_key', `there is no operator key at ${path}, so nothing can be signed here`, {
    hint: 'Create it with: sallyport operator init. If this home already has an operator, its key file lies somewhere else: put it back there.',
  });
}
