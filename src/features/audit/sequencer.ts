// State and record as one commit: entries wait in the outbox of the transaction that changed the state, and go to the log in that
// order, each exactly once. Knows nothing of what was changed.
import { AppError } from '../../kernel/errors.ts';
import { coalesce } from '../../lib/coalesce.ts';
import { createTurns } from '../../lib/turns.ts';
import type { Database, Transaction } from '../../kernel/database.ts';
import type { Clock, Log } from '../../kernel/ports.ts';
import type { Availability } from './availability.ts';
import type { Backlog } from './backlog.ts';
import type { AuditEntry } from './model.ts';
import type { Draft, Drafter } from './record.ts';
import type { RightsSeal } from './rights-seal.ts';
import { putOutbox, settleOutbox, type OutboxRow } from './store.ts';
import type { Writer } from './writer.ts';

const settleAfterMs = 1_000;
/** Rows of one delete; SQLite takes a bounded number of parameters. */
const settleAtOnce = 500;

export interface Committed<T> {
  readonly value: T;
  readonly entries: readonly AuditEntry[];
}

export interface CommitOptions {
  readonly decision?: boolean;
  readonly keepsRights?: boolean;
}

export interface Sequencer {
  commit<T>(work: (tx: Transaction) => Promise<Committed<T>>, options?: CommitOptions): Promise<T>;
  /** Takes up what a crash left; `appended` are the ids of rows that the log already holds. */
  finish(rows: readonly (Omit<OutboxRow, 'draft'> & { readonly draft: Draft })[], appended: ReadonlySet<string>): void;
  /** Removes the rows of records that are on stable storage and anchors the newest checkpoint. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface SequencerDeps {
  readonly db: Database;
  readonly origin: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly drafter: Drafter;
  readonly writer: Writer;
  readonly availability: Availability;
  readonly backlog: Backlog;
  /** Ids of appended records whose row still stands; shared with the resume hint. */
  readonly outstanding: Set<string>;
  readonly firstPosition: number;
  readonly rights: RightsSeal | undefined;
  /** A change was refused because the rows that rights come from are not those on the record. */
  readonly onEdited: () => void;
  /** A draft as text that only this installation can have written. */
  readonly pack: (draft: Draft) => string;
}

export function createSequencer(deps: SequencerDeps): Sequencer {
  const { db, origin, clock, log, drafter, writer, availability, backlog, outstanding, rights, pack, onEdited } = deps;
  // One commit at a time, so that the log has the order in which changes became true, on every database.
  const turn = createTurns();
  let position = deps.firstPosition;
  let anchored = '';
  let cancelTimer: (() => void) | undefined;

  const settle = coalesce(async () => {
    const ids = [...outstanding].slice(0, settleAtOnce);
    try {
      await writer.sync();
      const note = writer.signed?.note ?? '';
      if (ids.length === 0 && note === anchored) return;
      await settleOutbox(db, origin, ids, note);
      anchored = note;
      for (const id of ids) outstanding.delete(id);
    } catch (thrown) {
      log.warn('records are in the audit log, but their rows could not be cleared yet', { cause: String(thrown) });
    }
    if (outstanding.size > 0) settleSoon();
  });

  function settleSoon(): void {
    cancelTimer ??= clock.after(settleAfterMs, () => {
      cancelTimer = undefined;
      void settle();
    });
  }

  function deliver(draft: Draft, committedAt: number): void {
    backlog.deliver(draft, committedAt, () => {
      outstanding.add(draft.id);
      settleSoon();
    });
  }

  /** `seal`: of the rows that rights come from, unless the change leaves them alone. */
  async function inOrder<T>(
    work: (tx: Transaction) => Promise<Committed<T>>,
    seal: RightsSeal | undefined,
  ): Promise<{ value: T; recorded: boolean }> {
    const giveBack = await turn();
    let sealed: string | undefined;
    try {
      availability.assert();
      const { value, drafts, committedAt } = await db.transaction(async (tx) => {
        await seal?.assertUnmoved(tx);
        const committed = await work(tx);
        const drafts = committed.entries.map((entry) => drafter.draft(entry));
        const last = drafts.at(-1);
        sealed = last && (await seal?.next(tx));
        if (last !== undefined && sealed !== undefined) drafts.splice(-1, 1, { ...last, rights: sealed });
        for (const draft of drafts) writer.check(draft);
        const committedAt = Math.floor(clock.now());
        const rows = drafts.map((draft) => ({ position: position++, id: draft.id, committedAt, draft: pack(draft) }));
        await putOutbox(tx, origin, rows);
        return { value: committed.value, drafts, committedAt };
      });
      if (sealed !== undefined) seal?.moved(sealed, true);
      for (const draft of drafts) deliver(draft, committedAt);
      return { value, recorded: drafts.length > 0 };
    } catch (thrown) {
      // It may have failed behind its commit; the next change finds out which.
      if (sealed !== undefined) seal?.moved(sealed, false);
      if (thrown instanceof AppError && thrown.code === 'audit.locked') onEdited();
      throw thrown;
    } finally {
      giveBack();
    }
  }

  return {
    async commit(work, { decision = false, keepsRights = false } = {}) {
      const { value, recorded } = await inOrder(work, keepsRights ? undefined : rights);
      if (!recorded) return value;
      // The change is made and its record is durable in the outbox: a failing disk delays the leaf, and refuses every effect that
      // would follow from the change, but a caller who is told of a failure would believe there was no change.
      try {
        await (decision ? writer.checkpoint() : writer.sync());
      } catch (thrown) {
        log.warn('a change is committed; its record waits in the outbox until the audit log writes again', {
          cause: String(thrown),
        });
      }
      return value;
    },
    finish(rows, appended) {
      for (const { id, committedAt, draft } of rows) {
        if (appended.has(id)) outstanding.add(id);
        else deliver(draft, committedAt);
      }
      if (outstanding.size > 0) settleSoon();
    },
    settle,
    async close() {
      cancelTimer?.();
      await settle();
      cancelTimer?.();
    },
  };
}
