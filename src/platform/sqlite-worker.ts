// The worker thread that owns the SQLite file, so that a synced commit waits here and never on the event loop. It runs the
// statements it is sent, in order; it refuses to know who waits, what a transaction means or how an error is told.
import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync, SQLInputValue } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

export interface SqliteWorkerData {
  /** Absolute path, or `:memory:`. */
  readonly path: string;
  /** How long to wait for a lock another process holds. */
  readonly busyTimeoutMs: number;
}

export interface SqliteRequest {
  readonly id: number;
  /** `reader` sees the last commit only, also while `writer` is in a transaction. */
  readonly on: 'reader' | 'writer';
  /** `close` runs no statement. `rollback` is quiet when SQLite has rolled back by itself. */
  readonly kind: 'statement' | 'begin' | 'commit' | 'rollback' | 'close';
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** The sender believes the writer to be in a transaction; a statement outside of it would commit alone. */
  readonly inTransaction: boolean;
}

export interface SqliteFailure {
  readonly message: string;
  /** SQLite's extended result code; absent when the error is not SQLite's. */
  readonly errcode: number | undefined;
}

export interface SqliteReply {
  /** 0: the answer to opening the file. */
  readonly id: number;
  readonly failure?: SqliteFailure;
  /** Rows of a statement that returns some. */
  readonly rows?: readonly unknown[];
  readonly changes?: number;
}

/** Statements kept prepared, per connection; the least recently used goes first. */
const preparedLimit = 256;

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

interface Connection {
  readonly database: DatabaseSync;
  readonly prepare: (sql: string) => Prepared;
}

function connect({ path, busyTimeoutMs }: SqliteWorkerData, readOnly: boolean): Connection {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true, readOnly });
  database.enableDefensive(true);
  if (!readOnly) {
    database.exec('PRAGMA journal_mode = WAL');
    // FULL: a commit has reached stable storage when it answers; WAL alone would lose the last ones with the power.
    database.exec('PRAGMA synchronous = FULL');
  }
  const prepared = new Map<string, Prepared>();
  return {
    database,
    prepare(sql) {
      const known = prepared.get(sql);
      prepared.delete(sql);
      const statement = known?.statement ?? database.prepare(sql);
      const entry = known ?? { statement, returnsRows: statement.columns().length > 0 };
      prepared.set(sql, entry);
      if (prepared.size > preparedLimit) {
        for (const oldest of prepared.keys()) {
          prepared.delete(oldest);
          break;
        }
      }
      return entry;
    },
  };
}

function failureOf(thrown: unknown): SqliteFailure {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (!(thrown instanceof Error)) return { message, errcode: undefined };
  if ('errcode' in thrown && typeof thrown.errcode === 'number') return { message, errcode: thrown.errcode };
  // The file could not even be made: what SQLite would call SQLITE_CANTOPEN.
  return { message, errcode: 'syscall' in thrown ? 14 : undefined };
}

function serve(port: NonNullable<typeof parentPort>, data: SqliteWorkerData): void {
  const inMemory = data.path === ':memory:';
  // Made by hand first: SQLite would give it the umask's rights. The -wal and -shm files inherit these.
  if (!inMemory) closeSync(openSync(data.path, 'a', 0o600));
  const writer = connect(data, false);
  const reader = inMemory ? writer : connect(data, true);

  const run = (request: SqliteRequest): Omit<SqliteReply, 'id'> => {
    if (request.kind === 'close') {
      if (reader !== writer) reader.database.close();
      writer.database.close();
      return {};
    }
    const { database, prepare } = request.on === 'reader' ? reader : writer;
    if (request.kind === 'rollback') {
      if (database.isTransaction) database.exec('ROLLBACK');
      return {};
    }
    if (request.inTransaction && !database.isTransaction) throw new Error('SQLite has already rolled the transaction back');
    const { statement, returnsRows } = prepare(request.sql);
    const parameters = request.parameters as SQLInputValue[];
    if (returnsRows) return { rows: statement.all(...parameters) };
    return { rows: [], changes: Number(statement.run(...parameters).changes) };
  };

  port.on('message', (request: SqliteRequest) => {
    let reply: SqliteReply;
    try {
      reply = { id: request.id, ...run(request) };
    } catch (thrown) {
      reply = { id: request.id, failure: failureOf(thrown) };
    }
    port.postMessage(reply);
    if (request.kind === 'close') port.close();
  });
  port.postMessage({ id: 0 } satisfies SqliteReply);
}

if (parentPort !== null) {
  try {
    serve(parentPort, workerData as SqliteWorkerData);
  } catch (thrown) {
    parentPort.postMessage({ id: 0, failure: failureOf(thrown) } satisfies SqliteReply);
  }
}
