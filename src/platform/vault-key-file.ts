// The vault's start key as a file of the home. It opens the vault for whoever can read it: it keeps a copy of the database alone from
// being of use, and nothing from the user it belongs to.
import type { Files, StartKey } from '../kernel/ports.ts';
import { loadOrCreateSecret } from './crypto.ts';

/** One file for the one slot of this kind. Rejects with `platform.key_locked` when the file is damaged or open to others. */
export function createVaultKeyFile(files: Files, path: string): StartKey {
  return {
    read: async () => ((await files.size(path)) === undefined ? undefined : loadOrCreateSecret(files, path)),
    make: () => loadOrCreateSecret(files, path),
    remove: () => files.remove(path),
  };
}
