import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { AppError } from '../kernel/errors.ts';
import { describePostgres } from '../../test/support/databases.ts';
import { openDatabase } from './database.ts';

/** Ends every other connection that shows this name, as an administrator or a restart would. */
const terminate = (name: string) =>
  sql`select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and application_name = ${name}`;

const nameOf = async (db: Awaited<ReturnType<typeof openDatabase>>): Promise<string> => {
  const { rows } = await sql<{ name: string }>`select current_setting('application_name') as name`.execute(db.queries);
  return rows[0]?.name ?? '';
};

describePostgres('a server', (open) => {
  test('a connection that the server ends is replaced, and the pool survives it', async () => {
    const victim = await open();
    const db = await openDatabase(`${victim.url}&application_name=witness`);
    try {
      await sql`select 1`.execute(victim.queries);
      await terminate(await nameOf(victim)).execute(db.queries);
      await expect
        .poll(() => sql`select 1 as one`.execute(victim.queries).then(({ rows }) => rows), { timeout: 5_000 })
        .toEqual([{ one: 1 }]);
    } finally {
      await db.close();
    }
  });

  test('a transaction whose connection ends fails as unavailable and leaves nothing', async () => {
    const db = await open();
    await sql`create table t (n integer)`.execute(db.queries);
    const work = db.transaction(async (tx) => {
      await tx.insertInto('t').values({ n: 1 }).execute();
      await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx);
    });
    await expect(work).rejects.toMatchObject({ kind: 'unavailable', code: 'platform.database_unreachable' });
    expect(await db.queries.selectFrom('t').selectAll().execute()).toEqual([]);
  });

  test('[STORE-3] a holder learns that its lock is gone, and the next one gets it', async () => {
    const db = await open();
    const { promise: lost, resolve } = Promise.withResolvers<AppError>();
    await db.lock(resolve);
    await sql`select pg_terminate_backend(l.pid) from pg_locks l join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and (l.classid::bigint << 32) | l.objid::bigint = hashtextextended('sallyport:' || current_schema(), 0)`.execute(
      db.queries,
    );
    expect(await lost).toMatchObject({ kind: 'unavailable', code: 'platform.lock_lost' });
    const lock = await db.lock(() => undefined);
    await lock.release();
  });
});

test('a server that is not there is an error that names no password', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const attempt = openDatabase(`postgres://user:hunter2@127.0.0.1:${port}/db`);
  const error = (await attempt.catch((thrown: unknown) => thrown)) as AppError;
  expect(error).toMatchObject({ kind: 'unavailable', code: 'platform.database_unreachable', hint: expect.any(String) as string });
  expect(`${error.message} ${error.hint}`).not.toContain('hunter2');
});

test('a server that hangs up or talks nonsense is an error as well', async () => {
  const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    await expect(openDatabase(`postgres://user@127.0.0.1:${port}/db`)).rejects.toMatchObject({ kind: 'unavailable' });
  } finally {
    server.close();
  }
});
