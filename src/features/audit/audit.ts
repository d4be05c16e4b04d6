// The face of the audit slice: the record every other slice writes to. Refuses to know what any event means.
import type { Transaction } from '../../kernel/database.ts';
import type { AuditEntry, Grade, Outcome } from './model.ts';
import type { JsonObject } from '../../kernel/json.ts';

/** An intent on the record; its effect may start now. */
export interface Intent {
  readonly id: string;
  /** Writes the second record; never throws (a log that fails here marks itself unavailable). Call exactly once. */
  close(outcome: Outcome, facts?: JsonObject, sealed?: Readonly<Record<string, string>>): void;
}

export interface Committed<T> {
  readonly value: T;
  readonly entries: readonly AuditEntry[];
}

export interface Audit {
  /** Throws `audit.unavailable` (kind unavailable) when nothing can be recorded now, so that nothing is done. */
  assertAvailable(): void;
  /** One synchronous append, grade `written`. Throws `audit.unavailable`. */
  append(entry: AuditEntry): { readonly id: string };
  /** Grade `synced`: resolves once the record is on stable storage. */
  appendSynced(entry: AuditEntry): Promise<{ readonly id: string }>;
  /** Records an intent in the given grade before an effect. `written` resolves in the same tick (returns a plain value). */
  intent(entry: AuditEntry, grade: Grade): Intent | Promise<Intent>;
  /**
   * State and record are one commit: `work` changes rows in `tx`; its entries go into the outbox of the same transaction;
   * after commit the sequencer appends the leaves (synced) and, when `decision`, signs a checkpoint at once.
   */
  commit<T>(work: (tx: Transaction) => Promise<Committed<T>>, options?: { readonly decision?: boolean }): Promise<T>;
  /** Counts a refusal and records it as `written`, at most a bounded number per second for each kind; never throws. */
  appendQuietly(entry: AuditEntry): void;
  status(): { readonly available: boolean; readonly reason?: string; readonly records: number };
  close(): Promise<void>;
}
