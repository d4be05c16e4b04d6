// The one place where the log grows: one write for all records of a turn of the event loop, shared syncs, signed checkpoints. Knows
// the order of bytes, not the meaning of events, save that a call has an intent and an outcome.
import type { AppError } from '../../kernel/errors.ts';
import { coalesce } from '../../lib/coalesce.ts';
import type { AppendFile, Clock, Digest, Files, Log, Signer } from '../../kernel/ports.ts';
import type { Availability } from './availability.ts';
import { createBatch, type Told } from './batch.ts';
import { listed, signCheckpoint, type Checkpoint } from './checkpoint.ts';
import type { NoteKey } from './note.ts';
import type { OpenedLog } from './open-log.ts';
import type { Draft } from './record.ts';
import { formatResume, resumePath, type Resume, type ResumeSeal } from './resume.ts';
import { createSegments } from './segments.ts';
import { latestPath, listPath } from './signed-checkpoints.ts';
import { opensIntent, type AuditRecord } from './model.ts';

const checkpointEveryMs = 1_000;
/** A change that reached the log within this time needs no second instant in its record. */
const promptMs = 1_000;

export interface WriterDeps {
  readonly files: Files;
  readonly folder: string;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly key: NoteKey;
  readonly signer: Signer;
  readonly seal: ResumeSeal;
  readonly log: Log;
  readonly availability: Availability;
  readonly opened: OpenedLog;
  /** Ids of appended records whose row still stands in the outbox. */
  readonly outstanding: () => Iterable<string>;
  readonly segmentBytes: number;
}

export interface Writer {
  readonly size: number;
  readonly signed: Checkpoint | undefined;
  /**
   * Takes a record for the write at the end of this turn of the event loop, or for the next write if one comes sooner; `told` is called
   * when it is done. Throws `audit.unavailable` and `audit.bad_entry`; then nothing was taken.
   */
  put(draft: Draft, told: Told, committedAt?: number): void;
  /** Writes the record now, and whatever was taken before it, in one write. Throws as `put` does; then nothing of it was written. */
  append(draft: Draft, committedAt?: number): void;
  /** Throws `audit.bad_entry` for what `append` would refuse. */
  check(draft: Draft): void;
  /** Resolves when everything put or appended before is on stable storage. */
  sync(): Promise<void>;
  /** Resolves with a durable checkpoint over everything put or appended before. */
  checkpoint(): Promise<Checkpoint>;
  /** Writes tiles and the resume hint; a failure is logged and tried again at the next checkpoint. */
  persist(): Promise<void>;
  close(): Promise<void>;
}

export function createWriter(deps: WriterDeps): Writer {
  const { files, folder, clock, digest, key, signer, log, availability, opened, outstanding } = deps;
  const { frontier, tiles, openIntents } = opened;
  const segments = createSegments(files, folder, opened.position, deps.segmentBytes);
  const batch = createBatch(digest);
  let willFlush = false;
  let { time, last, rights } = opened;
  let signed = opened.signed;
  let signedState: Resume | undefined;
  let list: AppendFile | undefined;
  let cancelTimer: (() => void) | undefined;

  function recordOf(draft: Draft, committedAt: number | undefined): AuditRecord {
    time = Math.max(time, Math.floor(clock.now()));
    const late = committedAt !== undefined && committedAt < time - promptMs;
    const record = { ...draft, t: time, v: 1 } as const;
    return late ? { ...record, committedAt } : record;
  }

  const state = (checkpoint: Checkpoint): Resume => ({
    checkpoint,
    edge: tiles.edge(),
    position: segments.position,
    last,
    time,
    openIntents: new Map(openIntents),
    outstanding: [...outstanding()],
    rights,
  });

  function put(draft: Draft, told: Told, committedAt?: number): void {
    availability.assert();
    if (!batch.hasRoom()) flush();
    batch.put(recordOf(draft, committedAt), told);
    if (willFlush) return;
    willFlush = true;
    clock.soon(flush);
  }

  function flush(): void {
    willFlush = false;
    const { waiting, frames } = batch.take();
    if (waiting.length === 0) return;
    try {
      // A failed sync, or a write that came between, may have ended all writing since the first of them was taken.
      availability.assert();
      segments.append(frontier.size, frames);
    } catch (thrown) {
      const error = availability.fail(thrown, 'room');
      for (const { told } of waiting) told(error);
      return;
    }
    for (const { record, bytes, leaf } of waiting) {
      last = { bytes, leaf };
      rights = record.rights ?? rights;
      frontier.push(leaf, 0, tiles.completed);
      if (opensIntent(record.event)) openIntents.set(record.id, record.actor);
      if (record.intent !== undefined) openIntents.delete(record.intent);
    }
    checkpointSoon();
    for (const { told } of waiting) told(undefined);
  }

  const sync = coalesce(async () => {
    flush();
    try {
      await segments.sync();
    } catch (thrown) {
      throw availability.fail(thrown, 'restart');
    }
  });

  const persist = coalesce(async () => {
    const written = signedState;
    if (written === undefined) return;
    try {
      await tiles.flush();
      await files.writeAtomic(resumePath(folder), formatResume(written, deps.seal));
    } catch (thrown) {
      log.warn('the audit log could not write its tiles; it tries again with the next checkpoint', { cause: String(thrown) });
    }
  });

  const checkpoint = coalesce(async () => {
    flush();
    if (signed?.size === frontier.size) return signed;
    const size = frontier.size;
    const root = frontier.root();
    const then = state(signCheckpoint(size, root, key, signer));
    await sync();
    try {
      await files.writeAtomic(latestPath(folder), then.checkpoint.note);
      list ??= files.openAppend(listPath(folder));
      list.append(new TextEncoder().encode(listed(then.checkpoint.note)));
    } catch (thrown) {
      throw availability.fail(thrown, 'room');
    }
    try {
      await list?.sync();
    } catch (thrown) {
      throw availability.fail(thrown, 'restart');
    }
    signed = then.checkpoint;
    signedState = then;
    void persist();
    return signed;
  });

  function checkpointSoon(): void {
    cancelTimer ??= clock.after(checkpointEveryMs, () => {
      cancelTimer = undefined;
      // A failure has already made the log unavailable and is in the operator's log.
      checkpoint().catch(() => undefined);
    });
  }

  return {
    get size() {
      return frontier.size;
    },
    get signed() {
      return signed;
    },
    put,
    append(draft, committedAt) {
      const outcome: { error?: AppError } = {};
      put(
        draft,
        (error) => {
          if (error !== undefined) outcome.error = error;
        },
        committedAt,
      );
      flush();
      if (outcome.error !== undefined) throw outcome.error;
    },
    check(draft) {
      if (!batch.hasRoom()) flush();
      batch.check({ v: 1, ...draft, t: Number.MAX_SAFE_INTEGER, committedAt: Number.MAX_SAFE_INTEGER });
    },
    sync,
    checkpoint,
    persist,
    async close() {
      flush();
      cancelTimer?.();
      await persist();
      segments.close();
      tiles.close();
      list?.close();
    },
  };
}
