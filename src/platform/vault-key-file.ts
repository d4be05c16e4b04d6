// The vault's start key as a file of the home. It opens the vault for whoever can read it: it keeps a copy of the database alone from
// being of use, and nothing from the user it belongs to.
import type { Files, StartKey } from '../kernel/ports.ts';
import { createTurns } from '../lib/turns.ts';
import { loadOrCreateSecret } from './crypto.ts';

/** One file for the one slot of this kind. Rejects with `platform.key_locked` when the file is damaged or open to others. */
export function createVaultKeyFile(files: Files, path: string): StartKey {
  const takeTurn = createTurns();

  /** Two that make it at once have to get the one secret that the file then holds. */
  async function alone<T>(work: () => Promise<T>): Promise<T> {
    const giveBack = await takeTurn();
    try {
      return await work();
    } finally {
      giveBack();
    }
  }

  return {
    read: () => alone(async () => ((await files.size(path)) === undefined ? undefined : loadOrCreateSecret(files, path))),
    make: () => alone(() => loadOrCreateSecret(files, path)),
    remove: () => alone(() => files.remove(path)),
  };
}
