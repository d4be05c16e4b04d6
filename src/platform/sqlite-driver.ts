// Kysely's driver over the SQLite worker: transactions one at a time, selects beside them on a connection of their own.
// Refuses to know the tables.
import { Worker } from 'node:worker_threads';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import { AppError } from '../kernel/errors.ts';
import { createTurns } from '../lib/turns.ts';
import type { TransactionScope } from './database-scope.ts';
import { sqliteError } from './sqlite-errors.ts';
import type { SqliteReply, SqliteRequest, SqliteWorkerData } from './sqlite-worker.ts';

type Post = (request: Omit<SqliteRequest, 'id'>) => Promise<SqliteReply>;

interface Waiter {
  readonly resolve: (reply: SqliteReply) => void;
  readonly reject: (error: unknown) => void;
}

interface Channel {
  readonly post: Post;
  /** Closes the file and ends the thread. */
  close(): Promise<void>;
}

/** Resolves when the file is open; rejects with the reason when it cannot be used. */
export async function openSqliteWorker(data: SqliteWorkerData): Promise<Channel> {
  // The same code runs as .ts from a clone and as .js from dist; nothing rewrites a name inside a string.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = new Worker(new URL(`./sqlite-worker.${extension}`, import.meta.url), {
    name: 'sqlite',
    workerData: data,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const waiting = new Map<number, Waiter>();
  let lastId = 0;
  let ended: AppError | undefined;

  const end = (reason: AppError): void => {
    ended ??= reason;
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
    worker.unref();
  };
  worker.on('error', (error) =>
    end(
      new AppError('unavailable', 'platform.database_failed', `the database thread died: ${error.message}`, {
        hint: 'Restart the daemon; committed data is safe.',
        cause: error,
      }),
    ),
  );
  worker.on('exit', (code) =>
    end(
      new AppError('unavailable', 'platform.database_failed', `the database thread ended (exit code ${code})`, {
        hint: 'Restart the daemon; committed data is safe.',
      }),
    ),
  );
  worker.on('message', (reply: SqliteReply) => {
    const waiter = waiting.get(reply.id);
    waiting.delete(reply.id);
    // An idle database keeps no process alive; a statement under way does.
    if (waiting.size === 0) worker.unref();
    if (reply.failure === undefined) waiter?.resolve(reply);
    else waiter?.reject(sqliteError(reply.failure, data.path));
  });

  const expect = (id: number): Promise<SqliteReply> =>
    new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.ref();
    });
  const post: Post = async (request) => {
    if (ended !== undefined) throw ended;
    lastId += 1;
    const reply = expect(lastId);
    worker.postMessage({ ...request, id: lastId } satisfies SqliteRequest);
    return reply;
  };

  try {
    await expect(0);
  } catch (error) {
    await worker.terminate();
    throw error;
  }
  return {
    post,
    async close() {
      // Nothing is left to close of a thread that died.
      if (ended !== undefined) return;
      const last = post({ on: 'writer', kind: 'close', sql: '', parameters: [], inTransaction: false });
      ended ??= new AppError('unavailable', 'platform.database_closed', 'the database is closed');
      await last;
      await worker.terminate();
    },
  };
}

interface SqliteConnection extends DatabaseConnection {
  /** Gives the writer's turn back; present while a transaction holds it. */
  release?: () => void;
  /** A statement of the transaction failed: nothing may follow, as in PostgreSQL. */
  failed?: boolean;
}

function resultOf<R>({ rows = [], changes }: SqliteReply): QueryResult<R> {
  const found = rows as R[];
  return changes === undefined
    ? { rows: found, numAffectedRows: BigInt(found.length) }
    : { rows: found, numAffectedRows: BigInt(changes) };
}

/** `separateReader`: false for a database in memory, where a select waits for its turn like everything else. */
export function createSqliteDriver(channel: Channel, scope: TransactionScope, separateReader: boolean): Driver {
  const takeTurn = createTurns();

  const connect = (): SqliteConnection => {
    const connection: SqliteConnection = {
      async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
        const { sql, parameters } = query;
        if (connection.release !== undefined) {
          if (connection.failed === true) throw transactionFailed();
          try {
            return resultOf(await channel.post({ on: 'writer', kind: 'statement', sql, parameters, inTransaction: true }));
          } catch (error) {
            connection.failed = true;
            throw error;
          }
        }
        if (separateReader && query.query.kind === 'SelectQueryNode') {
          return resultOf(await channel.post({ on: 'reader', kind: 'statement', sql, parameters, inTransaction: false }));
        }
        const release = await takeTurn();
        try {
          return resultOf(await channel.post({ on: 'writer', kind: 'statement', sql, parameters, inTransaction: false }));
        } finally {
          release();
        }
      },
      async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
        yield await connection.executeQuery<R>(query);
      },
    };
    return connection;
  };

  return {
    async init() {},
    async acquireConnection() {
      scope.assertOutside();
      return connect();
    },
    async beginTransaction(connection: SqliteConnection) {
      const release = await takeTurn();
      try {
        // IMMEDIATE takes the write lock now: a transaction that began can finish.
        await channel.post({ on: 'writer', kind: 'begin', sql: 'BEGIN IMMEDIATE', parameters: [], inTransaction: false });
        connection.release = release;
      } catch (error) {
        release();
        throw error;
      }
    },
    async commitTransaction(connection: SqliteConnection) {
      if (connection.failed === true) throw transactionFailed();
      await channel.post({ on: 'writer', kind: 'commit', sql: 'COMMIT', parameters: [], inTransaction: true });
    },
    async rollbackTransaction() {
      await channel.post({ on: 'writer', kind: 'rollback', sql: '', parameters: [], inTransaction: false });
    },
    async releaseConnection(connection: SqliteConnection) {
      connection.release?.();
      delete connection.release;
    },
    async destroy() {
      const release = await takeTurn();
      try {
        await channel.close();
      } finally {
        release();
      }
    },
  };
}

function transactionFailed(): AppError {
  return new AppError(
    'internal',
    'platform.transaction_failed',
    'a statement of this transaction failed; it cannot go on or commit',
  );
}
