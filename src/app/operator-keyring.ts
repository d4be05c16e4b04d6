// The operator's key as the command line sees it: a locked file of the home, and perhaps a passphrase file named in the environment.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { OperatorKeyring } from '../faces/cli/ports.ts';
import { createOperatorKeyFile, unlockOperatorKey, type UnlockedOperatorKey } from '../platform/operator-key.ts';
import { readPassphraseFile } from '../platform/passphrase-file.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface OperatorKeyFileAt extends OperatorKeyring {
  /** Never replaces a key: `operator.exists`. */
  create(passphrase: string): Promise<UnlockedOperatorKey>;
  unlock(passphrase: string): Promise<UnlockedOperatorKey>;
}

export function operatorKeyringOf(home: string, environment: Environment): OperatorKeyFileAt {
  const path = join(home, 'keys', 'operator.json');
  return {
    path,
    exists: () =>
      access(path).then(
        () => true,
        () => false,
      ),
    create: (passphrase) => createOperatorKeyFile(path, passphrase),
    unlock: (passphrase) => unlockOperatorKey(path, passphrase),
    async passphraseFromFile() {
      const file = environment['SALLYPORT_OPERATOR_PASSPHRASE_FILE'];
      if (file === undefined || file === '') return undefined;
      return { passphrase: await readPassphraseFile(file), method: 'passphrase_file' };
    },
  };
}
