// The record as a list, for suites of the slices that write to it: rows and entries in one transaction, as the face promises.
// The real log has its own suites; this one can be told to fail.
import type { Audit } from '../../src/features/audit/audit.ts';
import type { AuditEntry } from '../../src/features/audit/model.ts';
import type { Database } from '../../src/kernel/database.ts';
import { AppError } from '../../src/kernel/errors.ts';

export interface PlainAudit extends Audit {
  readonly entries: AuditEntry[];
  /** How many commits were marked as decisions. */
  decisions(): number;
  /** From now on nothing can be recorded, until called with false. */
  fail(failing: boolean): void;
  /** Runs after the transaction of every commit, before the commit resolves: where the real log syncs. */
  syncing(sync: () => Promise<void>): void;
  /** The entries of one event. */
  of(event: AuditEntry['event']): AuditEntry[];
}

export function createPlainAudit(db: Database): PlainAudit {
  const entries: AuditEntry[] = [];
  let failing = false;
  let decided = 0;
  let sync = (): Promise<void> => Promise.resolve();

  const assertAvailable = (): void => {
    if (failing) throw new AppError('unavailable', 'audit.unavailable', 'Nothing can be recorded now.');
  };
  const append = (entry: AuditEntry): { readonly id: string } => {
    assertAvailable();
    entries.push(entry);
    return { id: String(entries.length) };
  };

  return {
    entries,
    decisions: () => decided,
    fail: (value) => {
      failing = value;
    },
    syncing: (value) => {
      sync = value;
    },
    of: (event) => entries.filter((entry) => entry.event === event),
    assertAvailable,
    append,
    appendSynced: (entry) => Promise.resolve().then(() => append(entry)),
    async intent(entry) {
      const { id } = append(entry);
      return { id, close: (outcome) => void entries.push({ ...entry, event: 'call.outcome', facts: { outcome } }) };
    },
    async commit(work, options) {
      assertAvailable();
      const committed = await db.transaction(async (tx) => {
        const done = await work(tx);
        assertAvailable();
        return done;
      });
      entries.push(...committed.entries);
      if (options?.decision === true) decided += 1;
      await sync();
      return committed.value;
    },
    appendQuietly(entry) {
      if (!failing) entries.push(entry);
    },
    status: () => ({ available: !failing, records: entries.length }),
    close: () => Promise.resolve(),
  };
}
