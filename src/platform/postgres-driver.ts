// Kysely's driver over a pg pool: SERIALIZABLE transactions, errors in the product's own words. Refuses to know the tables.
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { AppError } from '../kernel/errors.ts';
import type { TransactionScope } from './database-scope.ts';
import { postgresError } from './postgres-errors.ts';

interface PostgresConnection extends DatabaseConnection {
  readonly client: PoolClient;
  /** The first failure of a statement in the transaction under way: PostgreSQL would answer COMMIT with a rollback. */
  failure?: unknown;
  /** The connection is in an unknown state and must not be used again. */
  broken?: boolean;
}

const returnsCount = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

function connectionOver(client: PoolClient): PostgresConnection {
  const connection: PostgresConnection = {
    client,
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      try {
        const { command, rowCount, rows } = await client.query(sql, [...parameters]);
        const found = (rows ?? []) as R[];
        return returnsCount.has(command) ? { rows: found, numAffectedRows: BigInt(rowCount ?? 0) } : { rows: found };
      } catch (thrown) {
        connection.failure ??= thrown;
        throw postgresError(thrown);
      }
    },
    async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
      yield await connection.executeQuery<R>(query);
    },
  };
  return connection;
}

export function createPostgresDriver(pool: Pool, scope: TransactionScope): Driver {
  const command = async (connection: PostgresConnection, sql: string): Promise<void> => {
    try {
      await connection.client.query(sql);
    } catch (thrown) {
      connection.broken = true;
      throw postgresError(thrown);
    }
  };
  return {
    async init() {},
    async acquireConnection() {
      scope.assertOutside();
      try {
        return connectionOver(await pool.connect());
      } catch (thrown) {
        throw postgresError(thrown);
      }
    },
    beginTransaction: (connection: PostgresConnection) => command(connection, 'START TRANSACTION ISOLATION LEVEL SERIALIZABLE'),
    async commitTransaction(connection: PostgresConnection) {
      if (connection.failure !== undefined) {
        throw new AppError('internal', 'platform.transaction_failed', 'a statement of this transaction failed; it cannot commit', {
          cause: connection.failure,
        });
      }
      try {
        await connection.client.query('COMMIT');
      } catch (thrown) {
        throw postgresError(thrown);
      }
    },
    rollbackTransaction: (connection: PostgresConnection) =>
      // A connection that cannot roll back is thrown away by its release; the error that led here is the one to tell.
      command(connection, 'ROLLBACK').catch(() => {}),
    async releaseConnection(connection: PostgresConnection) {
      connection.client.release(connection.broken === true);
    },
    destroy: () => pool.end(),
  };
}
