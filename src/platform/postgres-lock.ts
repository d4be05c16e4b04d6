// One daemon for each PostgreSQL database and schema: a session advisory lock on a connection of its own, which the server
// gives up when the connection ends. Whoever holds it must stop when it is lost.
import { Client } from 'pg';
import { AppError } from '../kernel/errors.ts';
import type { Lock } from './file-lock.ts';
import { postgresClientOptions } from './postgres.ts';
import { postgresError } from './postgres-errors.ts';

// Advisory locks are per database; the schema in the key keeps apart those who share one.
const key = `hashtextextended('sallyport:' || current_schema(), 0)`;
const holder = `
  select a.application_name as name from pg_locks l join pg_stat_activity a using (pid)
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.database = (select oid from pg_database where datname = current_database())
    and (l.classid::bigint << 32) | l.objid::bigint = ${key}`;

/** Throws `platform.locked` (kind conflict) while another daemon holds it. `onLost` is called at most once, never after `release`. */
export async function lockPostgres(url: string, onLost: (reason: AppError) => void): Promise<Lock> {
  const client = new Client(postgresClientOptions(url));
  let held = false;
  const lost = (error?: Error): void => {
    if (!held) return;
    held = false;
    onLost(
      new AppError('unavailable', 'platform.lock_lost', 'the connection that held the lock of the database ended', {
        hint: 'Start the daemon again when PostgreSQL can be reached.',
        cause: error,
      }),
    );
  };
  client.on('error', lost);
  client.on('end', () => lost());
  try {
    await client.connect();
    const { rows } = await client.query<{ locked: boolean }>(`select pg_try_advisory_lock(${key}) as locked`);
    if (rows[0]?.locked !== true) {
      const found = await client.query<{ name: string }>(holder);
      const name = found.rows[0]?.name;
      throw new AppError('conflict', 'platform.locked', `another daemon${name ? ` (${name})` : ''} already runs on this database`, {
        hint: 'Stop it first, or give this one a database or schema of its own.',
      });
    }
    held = true;
  } catch (thrown) {
    await client.end().catch(() => {});
    throw postgresError(thrown);
  }
  return {
    async release() {
      held = false;
      await client.end();
    },
  };
}
