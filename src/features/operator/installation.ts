// This installation's id: random, made at the first boot, kept in the database. Read before anything can be recorded.
import type { Database } from '../../kernel/database.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Entropy } from '../../kernel/ports.ts';
import { keepInstallation } from './store.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The UUID of this installation, made if this is the first boot. Throws `operator.locked` when what is stored is none. */
export async function loadInstallation(db: Database, entropy: Entropy): Promise<string> {
  const installation = await keepInstallation(db, entropy.uuid());
  if (uuid.test(installation)) return installation;
  throw new AppError('unavailable', 'operator.locked', 'The id of this installation is unreadable in the database.', {
    hint: 'Restore the database from a backup; without its id no earlier decision can be checked.',
  });
}
