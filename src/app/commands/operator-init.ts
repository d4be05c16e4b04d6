// `sallyport operator init`: makes the operator's key and seats it, before or while the daemon runs. Never replaces a key.
import { z } from 'zod';
import type { Command } from '../../faces/cli/command.ts';
import type { Cli } from '../../faces/cli/ports.ts';
import { AppError } from '../../kernel/errors.ts';
import { daemonAbsent } from '../../platform/daemon-client.ts';
import type { OperatorKeyFileAt } from '../operator-keyring.ts';
import { openOrCreateKey, readSeat, takeSeat, type Seat } from '../seat-operator.ts';

export function operatorInitCommand(keyring: OperatorKeyFileAt): Command {
  return {
    words: ['operator', 'init'],
    summary: 'Create the operator, who alone can decide; asks for a passphrase, or reads SALLYPORT_OPERATOR_PASSPHRASE_FILE.',
    description: 'Works once per home. Without a running daemon only the key is made; the next `sallyport up` seats it.',
    input: z.strictObject({}),
    positionals: [],
    signed: false,
    async run({ json }, cli) {
      const seat = await seatIfRunning(cli);
      if (seat?.exists === true) throw alreadySeated(seat);
      if (seat === undefined && (await keyring.exists())) throw keyAlreadyMade(keyring.path);
      const key = await openOrCreateKey(keyring, cli.person, (text) => cli.note(text));
      if (key === undefined) throw nobodyToAsk();
      if (seat !== undefined) await takeSeat(cli.daemon, seat.installation, key);
      key.wipe();
      const answer = { key_id: key.keyId, path: keyring.path, seated: seat !== undefined };
      cli.out(json ? JSON.stringify(answer) : words(answer));
      return 0;
    },
  };
}

function words({ key_id, path, seated }: { key_id: string; path: string; seated: boolean }): string {
  const next = seated ? 'It decides from now on.' : 'It takes its seat at the next: sallyport up';
  return `The operator key ${key_id} is in ${path}. ${next}\nKeep a copy of that file; without it and the passphrase nothing can be decided.`;
}

async function seatIfRunning(cli: Cli): Promise<Seat | undefined> {
  try {
    return await readSeat(cli.daemon);
  } catch (error) {
    if (error instanceof AppError && error.code === daemonAbsent) return undefined;
    throw error;
  }
}

function alreadySeated({ key_id }: Seat): AppError {
  return new AppError('conflict', 'operator.exists', `this installation has an operator already (key ${key_id ?? 'unknown'})`, {
    hint: 'There is one operator per home, for good. Nothing was changed.',
  });
}

function keyAlreadyMade(path: string): AppError {
  return new AppError('conflict', 'operator.exists', `there is an operator key at ${path} already`, {
    hint: 'Start the daemon with: sallyport up. At a terminal, or with SALLYPORT_OPERATOR_PASSPHRASE_FILE, it seats the key if the seat is empty.',
  });
}

function nobodyToAsk(): AppError {
  return new AppError('denied', 'cli.no_operator_here', 'there is no terminal to ask for a passphrase', {
    hint: 'Run it at a terminal, or set SALLYPORT_OPERATOR_PASSPHRASE_FILE to a file with the passphrase that only you can read (chmod 600).',
  });
}
