import { once } from 'node:events';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import type { Database, Migration } from '../kernel/database.ts';
import { createSqliteDatabase } from './sqlite.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function openAt(path: string, busyTimeoutMs?: number): Promise<Database> {
  const db = await createSqliteDatabase({ path, ...(busyTimeoutMs !== undefined && { busyTimeoutMs }) });
  onTestFinished(() => db.close().catch(() => undefined));
  return db;
}

const pairs: Migration = {
  name: 'test/001-pairs',
  up: (queries) =>
    queries.schema
      .createTable('pairs')
      .addColumn('n', 'integer', (column) => column.notNull())
      .addColumn('half', 'text', (column) => column.notNull())
      .execute(),
};

async function openPairs(path: string): Promise<Database> {
  const db = await openAt(path);
  await db.migrate([pairs]);
  return db;
}

const countPairs = async (db: Database): Promise<number> => (await db.queries.selectFrom('pairs').selectAll().execute()).length;

test('[SEC-4] after kill -9 of a writer every acknowledged commit is there, whole, and nothing half', async () => {
  const path = join(newFolder(), 'state.db');
  await (await openPairs(path)).close();
  const writer = spawn(process.execPath, [fileURLToPath(new URL('../../test/fixtures/sqlite-writer.ts', import.meta.url)), path]);
  onTestFinished(() => void writer.kill('SIGKILL'));
  let output = '';
  writer.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (output.split('\n').length > 50) writer.kill('SIGKILL');
  });
  await once(writer, 'close');

  const acknowledged = output.split('\n').slice(0, -1).length;
  expect(acknowledged).toBeGreaterThanOrEqual(50);
  const db = await openAt(path);
  const halves = await db.queries
    .selectFrom('pairs')
    .select(({ fn }) => ['n', fn.countAll<number>().as('halves')])
    .groupBy('n')
    .execute();
  expect(halves.length).toBeGreaterThanOrEqual(acknowledged);
  expect(halves.every((row) => row.halves === 2)).toBe(true);
  const { rows } = await sql`pragma integrity_check`.execute(db.queries);
  expect(rows).toEqual([{ integrity_check: 'ok' }]);
});

test('commits are synced in WAL mode and foreign keys hold', async () => {
  const db = await openAt(join(newFolder(), 'state.db'));
  const pragma = async (name: string): Promise<unknown> => {
    const { rows } = await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(db.queries);
    return Object.values(rows[0] ?? {})[0];
  };
  expect(await pragma('journal_mode')).toBe('wal');
  expect(await pragma('synchronous')).toBe(2);
  expect(await pragma('foreign_keys')).toBe(1);
});

test('the database and its log can be read by their owner only', async () => {
  const path = join(newFolder(), 'state.db');
  await openPairs(path);
  for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a full disk refuses the transaction, loses nothing, and is over when there is room', async () => {
  const db = await openPairs(join(newFolder(), 'state.db'));
  const fill = (text: string): Promise<unknown> =>
    db.transaction(async (tx) => {
      await tx.insertInto('pairs').values({ n: 1, half: 'small' }).execute();
      await tx.insertInto('pairs').values({ n: 2, half: text }).execute();
    });
  // SQLite reports this limit exactly as it reports a full disk (SQLITE_FULL).
  await sql`pragma max_page_count = 20`.execute(db.queries);
  await expect(fill('x'.repeat(1_000_000))).rejects.toMatchObject({ kind: 'unavailable', code: 'platform.disk_full' });
  expect(await countPairs(db)).toBe(0);
  await sql`pragma max_page_count = 1000000`.execute(db.queries);
  await fill('x'.repeat(1_000_000));
  expect(await countPairs(db)).toBe(2);
});

test('a lock that another process keeps is an error that says so, and waiting for it blocks no reader', async () => {
  const path = join(newFolder(), 'state.db');
  await (await openPairs(path)).close();
  const db = await openAt(path, 100);
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const write = (): Promise<unknown> => db.transaction((tx) => tx.insertInto('pairs').values({ n: 1, half: 'left' }).execute());
  await expect(write()).rejects.toMatchObject({ kind: 'unavailable', code: 'platform.database_busy', retryAfterMs: 1_000 });
  expect(await countPairs(db)).toBe(0);
  other.exec('COMMIT');
  await write();
  expect(await countPairs(db)).toBe(1);
});

test('a statement after the transaction was rolled back beneath it does not commit by itself', async () => {
  const db = await openPairs(join(newFolder(), 'state.db'));
  const work = db.transaction(async (tx) => {
    // As SQLite does on some errors.
    await sql`rollback`.execute(tx);
    await tx.insertInto('pairs').values({ n: 1, half: 'left' }).execute();
  });
  await expect(work).rejects.toMatchObject({ kind: 'internal', message: expect.stringContaining('rolled') as string });
  expect(await countPairs(db)).toBe(0);
});

test('an idle database that nobody closed keeps no process alive', () => {
  const path = JSON.stringify(join(newFolder(), 'state.db'));
  const source = JSON.stringify(fileURLToPath(new URL('sqlite.ts', import.meta.url)));
  const program = `import { createSqliteDatabase } from ${source}; await createSqliteDatabase({ path: ${path} });`;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { timeout: 10_000 });
  expect(status).toBe(0);
});

test('a file that is no database is refused and left as it is', async () => {
  const path = join(newFolder(), 'state.db');
  const text = 'this was something else entirely, and long enough to be looked at\n'.repeat(20);
  writeFileSync(path, text);
  await expect(createSqliteDatabase({ path })).rejects.toMatchObject({ kind: 'unavailable', code: 'platform.database_corrupt' });
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test('a damaged page is told as damage when it is read, never as data', async () => {
  const path = join(newFolder(), 'state.db');
  const before = await openPairs(path);
  await before.transaction(async (tx) => {
    for (let n = 0; n < 500; n += 1)
      await tx
        .insertInto('pairs')
        .values({ n, half: 'x'.repeat(40) })
        .execute();
  });
  await before.close();
  const bytes = readFileSync(path);
  bytes.fill(0xff, 4_096 * 3);
  writeFileSync(path, bytes);
  await expect(countPairs(await openAt(path))).rejects.toMatchObject({ kind: 'unavailable', code: 'platform.database_corrupt' });
});

test('a place where no file can be is refused with what to check', async () => {
  await expect(createSqliteDatabase({ path: join(newFolder(), 'no', 'state.db') })).rejects.toMatchObject({
    code: 'platform.database_unusable',
    hint: expect.stringContaining('folder') as string,
  });
});

test('when the thread dies, what waits and what comes later fail, and committed data is there on the next start', async () => {
  const path = join(newFolder(), 'state.db');
  const started = once(process, 'worker') as Promise<[Worker]>;
  const db = await openPairs(path);
  const [worker] = await started;
  await db.transaction((tx) => tx.insertInto('pairs').values({ n: 1, half: 'left' }).execute());
  const failed = { kind: 'unavailable', code: 'platform.database_failed' };
  const waiting = db.transaction(async (tx) => {
    await tx.insertInto('pairs').values({ n: 2, half: 'left' }).execute();
    await worker.terminate();
    await tx.insertInto('pairs').values({ n: 2, half: 'right' }).execute();
  });
  await expect(waiting).rejects.toMatchObject(failed);
  await expect(countPairs(db)).rejects.toMatchObject(failed);
  await db.close();
  expect(await countPairs(await openAt(path))).toBe(1);
});

test('closing waits for the transaction under way and refuses the next', async () => {
  const path = join(newFolder(), 'state.db');
  const db = await openPairs(path);
  const work = db.transaction(async (tx) => {
    await tx.insertInto('pairs').values({ n: 1, half: 'left' }).execute();
    await new Promise((resolve) => setTimeout(resolve, 20));
    await tx.insertInto('pairs').values({ n: 1, half: 'right' }).execute();
  });
  // Let it begin.
  await new Promise((resolve) => setTimeout(resolve, 5));
  await Promise.all([work, db.close()]);
  await expect(countPairs(db)).rejects.toThrow('destroyed');
  expect(await countPairs(await openAt(path))).toBe(2);
});

test('a database in memory keeps what it is given, and no file', async () => {
  const db = await openPairs(':memory:');
  await db.transaction((tx) => tx.insertInto('pairs').values({ n: 1, half: 'left' }).execute());
  expect(await countPairs(db)).toBe(1);
});
