// The face of the audit slice: the record every other slice writes to. Refuses to know what any event means. Below it the log is
// put together at a start: open, check the salt key, finish what a crash left, sign.
import type { Database, Queries, Transaction } from '../../kernel/database.ts';
import type { Clock, Digest, Entropy, Files, Log, Signer, Verifier } from '../../kernel/ports.ts';
import type { Evidence } from './evidence.ts';
import { AppError } from '../../kernel/errors.ts';
import { createAvailability, type Outage } from './availability.ts';
import { createBacklog } from './backlog.ts';
import { createIntents, type Intent } from './intents.ts';
import { createTreeHash } from './merkle.ts';
import type { AuditEntry, Grade } from './model.ts';
import { noteKey } from './note.ts';
import { openLog } from './open-log.ts';
import { createDraftPacking } from './packed-draft.ts';
import { createQuiet } from './quiet.ts';
import { createDrafter, parseRecord, sealText, type Draft } from './record.ts';
import { createResumeSeal } from './resume.ts';
import { countOf, createRightsSeal, type RightsReader } from './rights-seal.ts';
import { scanLog } from './scan.ts';
import { createSequencer, type Committed, type CommitOptions } from './sequencer.ts';
import { locked, startWithOwnKeys } from './signed-checkpoints.ts';
import { countHooks, readAnchor, readOutbox } from './store.ts';
import { createWriter } from './writer.ts';

export type { Committed, Intent };

export interface Audit {
  /** Throws `audit.unavailable` (kind unavailable) when nothing can be recorded now, so that nothing is done. */
  assertAvailable(): void;
  /** One synchronous append, grade `written`. Throws `audit.unavailable`. */
  append(entry: AuditEntry): { readonly id: string };
  /** Grade `synced`: resolves once the record is on stable storage. */
  appendSynced(entry: AuditEntry): Promise<{ readonly id: string }>;
  /**
   * Records a `call.intent` or `ask.relayed` in the given grade; its effect may start when it resolves. Intents of one turn of the event loop share one
   * write, at its end. Rejects with `audit.unavailable` and `audit.bad_entry`; then nothing was recorded.
   */
  intent(entry: AuditEntry, grade: Grade): Promise<Intent>;
  /**
   * State and record are one commit: `work` changes rows in `tx`; its entries go into the outbox of the same transaction;
   * after commit the sequencer appends the leaves (synced) and, when `decision`, signs a checkpoint at once. Refuses with
   * `audit.unavailable` before `work` runs, and with `audit.locked` when somebody else edited the rows that rights come from;
   * `keepsRights` is for a change that leaves all of those alone, and costs less. Once the transaction is committed it resolves, also when the disk fails right then:
   * the record waits in the outbox and comes first when the log records again, or at the next start.
   */
  commit<T>(work: (tx: Transaction) => Promise<Committed<T>>, options?: CommitOptions): Promise<T>;
  /** Counts a refusal and records it as `written`, at most a bounded number per second for each kind; never throws. */
  appendQuietly(entry: AuditEntry): void;
  status(): { readonly available: boolean; readonly reason?: string; readonly records: number };
  close(): Promise<void>;
}

/** The log with what proves it, for the operations of this slice. */
export interface AuditLog extends Audit {
  readonly evidence: Evidence;
}

export interface AuditDeps {
  readonly db: Database;
  readonly files: Files;
  /** Absolute; made when it is not there. */
  readonly folder: string;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly digest: Digest;
  /** The log's own key, apart from the operator's. */
  readonly signer: Signer;
  readonly verifier: Verifier;
  /** 32 secret bytes under every sealed digest. */
  readonly saltKey: Uint8Array;
  /** Origin and key name of the checkpoints, `sallyport/<installation id>`. */
  readonly origin: string;
  readonly log: Log;
  /** The rows that rights come from, held against the record at the start and at each change; absent = none are. */
  readonly rights?: RightsReader;
  /** Bytes after which a segment file is full; 16 MiB unless said otherwise. */
  readonly segmentBytes?: number;
}

const defaultSegmentBytes = 16 << 20;
/** Sealed into the first record, so that another salt key is noticed before it seals anything. */
const sealedCheck = 'sallyport audit salt key check v1';

async function checkSaltKey({ files, folder, digest }: AuditDeps, saltOf: (id: string) => Uint8Array): Promise<void> {
  for await (const step of scanLog(files, folder)) {
    const first = step.kind === 'records' && step.records[0] ? parseRecord(step.records[0]) : undefined;
    const expected = first && sealText(digest, saltOf(first.id), sealedCheck);
    if (first?.sealed?.['check'] !== expected) {
      throw locked('the salt key is not the one this log was started with.', {}, startWithOwnKeys);
    }
    return;
  }
}

/**
 * Opens or starts the log, finishes what a crash left, and signs a checkpoint. Rejects with `audit.locked` when what is on disk is
 * not what was signed, and with `platform.*` when the folder cannot be used. The migrations of this slice must have run.
 */
export async function createAudit(deps: AuditDeps): Promise<AuditLog> {
  const { db, files, folder, clock, digest, signer, origin, log } = deps;
  const tree = createTreeHash((data) => digest.sha256(data));
  const key = noteKey(digest, origin, signer.publicKey);
  const seal = createResumeSeal(digest, deps.saltKey);
  const drafter = createDrafter(deps);
  const packing = createDraftPacking(digest, deps.saltKey);
  const waiting = (await readOutbox(db, origin)).map((row) => ({ ...row, draft: packing.unpack(row.draft) }));
  const opened = await openLog({
    ...deps,
    tree,
    key,
    seal,
    anchor: await readAnchor(db, origin),
    waiting: new Set(waiting.map(({ id }) => id)),
  });
  const isNew = opened.frontier.size === 0;
  if (!isNew) await checkSaltKey(deps, drafter.saltOf);
  const newest = [opened.rights, ...waiting.map(({ draft }) => draft.rights)].toSorted((a, b) => countOf(b) - countOf(a))[0];
  const hooks = (queries: Queries): Promise<number> => countHooks(queries, db.dialect);
  const rights = deps.rights && createRightsSeal({ digest, key: deps.saltKey, read: deps.rights, hooks, last: newest });
  await rights?.assertUnmoved(db.queries);
  const leftOpen = new Map(opened.openIntents);

  const outstanding = new Set<string>();
  const availability = createAvailability({ clock, files, folder, log, onRoom });
  const writer = createWriter({
    ...deps,
    key,
    signer,
    seal,
    availability,
    opened,
    outstanding: () => outstanding,
    segmentBytes: deps.segmentBytes ?? defaultSegmentBytes,
  });
  const backlog = createBacklog(writer);
  const firstPosition = (waiting.at(-1)?.position ?? 0) + 1;
  const intents = createIntents({ clock, drafter, writer, backlog });
  const record = (entry: AuditEntry): Draft => {
    const draft = drafter.draft(entry);
    writer.append(draft);
    return draft;
  };
  const quiet = createQuiet(clock, record);
  const sequencer = createSequencer({
    db,
    origin,
    clock,
    log,
    drafter,
    writer,
    availability,
    backlog,
    outstanding,
    firstPosition,
    rights,
    pack: (draft) => packing.pack(draft),
    onEdited() {
      log.error('somebody else edited the database; changes are refused until it is put back');
      quiet.record({ event: 'rights.edited', actor: 'daemon' });
    },
  });

  function onRoom(ended: Outage): void {
    backlog.drain();
    try {
      const down_ms = Math.round(clock.monotonic() - ended.sinceMs);
      record({ event: 'log.recovered', actor: 'daemon', facts: { reason: ended.reason, down_ms, refused: ended.refused } });
    } catch (thrown) {
      log.warn('the audit log failed again', { cause: String(thrown) });
    }
  }

  if (isNew) record({ event: 'log.opened', actor: 'daemon', facts: { origin }, sealed: { check: sealedCheck } });
  if (opened.lostBytes > 0) {
    log.warn('a torn tail of the audit log was cut back to whole records and kept in torn/', { bytes: opened.lostBytes });
    record({ event: 'log.recovered', actor: 'daemon', facts: { reason: 'torn tail', lost_bytes: opened.lostBytes } });
  }
  sequencer.finish(waiting, opened.appended);
  intents.closeUnknown(leftOpen);
  await writer.checkpoint();
  await writer.persist();
  await sequencer.settle();

  return {
    assertAvailable: () => availability.assert(),
    append: (entry) => ({ id: record(entry).id }),
    async appendSynced(entry) {
      const { id } = record(entry);
      await writer.sync();
      return { id };
    },
    intent: (entry, grade) => intents.open(entry, grade),
    commit: (work, options) => sequencer.commit(work, options),
    appendQuietly: (entry) => quiet.record(entry),
    status: () => ({
      available: availability.outage === undefined,
      ...(availability.outage && { reason: availability.outage.reason }),
      records: writer.size,
    }),
    async close() {
      quiet.close();
      backlog.drain();
      if (availability.outage === undefined) await writer.checkpoint().catch(() => undefined);
      await sequencer.close();
      await writer.close();
      availability.close();
    },
    evidence: {
      folder,
      key,
      tree,
      digest,
      verifier: deps.verifier,
      node: opened.tiles.node,
      tile: opened.tiles.read,
      now: () => clock.now(),
      anchor: () => readAnchor(db, origin),
      saltOf: drafter.saltOf,
      async settle() {
        if (availability.outage === undefined) await writer.checkpoint();
        await writer.persist();
        const { signed } = writer;
        if (signed === undefined) throw new AppError('unavailable', 'audit.unavailable', 'No checkpoint was ever signed.');
        return signed;
      },
    },
  };
}
