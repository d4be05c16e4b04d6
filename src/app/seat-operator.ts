// Putting an operator into an empty seat: make the key, let it sign for itself, hand its public half to the daemon.
import { possessionInput } from '../features/operator/model.ts';
import { AppError } from '../kernel/errors.ts';
import { encodeBase64url } from '../lib/base64url.ts';
import type { Cli, DaemonLine, Person } from '../faces/cli/ports.ts';
import { shortestPassphrase, type UnlockedOperatorKey } from '../platform/operator-key.ts';
import type { OperatorKeyFileAt } from './operator-keyring.ts';

const attempts = 3;

export interface Seat {
  readonly exists: boolean;
  readonly installation: string;
  readonly key_id?: string;
}

export async function readSeat(daemon: DaemonLine): Promise<Seat> {
  return (await daemon.operate('operator.status', {})) as Seat;
}

/** Makes the daemon accept this key as its operator. Rejects with `operator.exists` when another was faster. */
export async function takeSeat(daemon: DaemonLine, installation: string, key: UnlockedOperatorKey): Promise<void> {
  const possession = encodeBase64url(key.sign(possessionInput(installation, key.publicKey)));
  await daemon.operate('operator.create', { publicKey: key.publicKey, possession });
}

/**
 * The key of this home, opened, made first if there is none: from the passphrase file, else by asking the person. `undefined` when
 * neither is there.
 */
export async function openOrCreateKey(
  keyring: OperatorKeyFileAt,
  person: Person | undefined,
  note: Cli['note'],
): Promise<UnlockedOperatorKey | undefined> {
  const fromFile = await keyring.passphraseFromFile();
  const exists = await keyring.exists();
  if (fromFile !== undefined) return exists ? keyring.unlock(fromFile.passphrase) : keyring.create(fromFile.passphrase);
  if (person === undefined) return undefined;
  return exists ? unlockAsking(keyring, person, note) : createAsking(keyring, person, note);
}

async function unlockAsking(keyring: OperatorKeyFileAt, person: Person, note: Cli['note']): Promise<UnlockedOperatorKey> {
  note(`The operator key ${keyring.path} has no seat in this installation yet; its passphrase seats it.`);
  return repeated(note, async () => keyring.unlock(await person.askHidden('Operator passphrase: ')));
}

async function createAsking(keyring: OperatorKeyFileAt, person: Person, note: Cli['note']): Promise<UnlockedOperatorKey> {
  note(
    [
      'Choose the operator passphrase. Every decision about your agents is signed with it, and it is never stored.',
      `At least ${shortestPassphrase} characters; four random words are good. Nobody can reset it.`,
    ].join('\n'),
  );
  return repeated(note, async () => {
    const passphrase = await person.askHidden('New operator passphrase: ');
    if ((await person.askHidden('The same again: ')) !== passphrase) {
      throw new AppError('invalid', 'operator.weak_passphrase', 'The two passphrases differ.');
    }
    return keyring.create(passphrase);
  });
}

/** Again after a passphrase that did not do, three times at most. */
async function repeated<T>(note: Cli['note'], attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      const again =
        error instanceof AppError && (error.code === 'operator.weak_passphrase' || error.code === 'operator.wrong_passphrase');
      if (!again || count === attempts) throw error;
      note(`${error.message} Try again.`);
    }
  }
}
