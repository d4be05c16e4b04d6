// Catches the mistake that no driver reports: a query made from inside a transaction, but not through it. On SQLite a write
// would wait for ever for the transaction it stands in; on PostgreSQL a read would escape the isolation it relies on.
import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError } from '../kernel/errors.ts';

export interface TransactionScope {
  /** Runs `work` as the inside of a transaction, until its promise settles. */
  inside<T>(work: () => Promise<T>): Promise<T>;
  /** Throws `platform.query_outside_transaction` (kind internal) when called from an open `inside`. */
  assertOutside(): void;
}

export function createTransactionScope(): TransactionScope {
  const scopes = new AsyncLocalStorage<{ open: boolean }>();
  return {
    inside(work) {
      const scope = { open: true };
      return scopes.run(scope, async () => {
        try {
          return await work();
        } finally {
          // What the work left running may query again once the transaction has ended.
          scope.open = false;
        }
      });
    },
    assertOutside() {
      if (scopes.getStore()?.open !== true) return;
      throw new AppError(
        'internal',
        'platform.query_outside_transaction',
        'a query was made beside the transaction it is part of',
        {
          hint: 'Use the transaction that was handed to the work, not the database.',
        },
      );
    },
  };
}
