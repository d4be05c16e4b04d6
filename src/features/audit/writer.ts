// The one place where the log grows: one write per record, shared syncs, signed checkpoints. Knows the order of bytes, not the
// meaning of events, save that a call has an intent and an outcome.
import { coalesce } from '../../lib/coalesce.ts';
import type { AppendFile, Clock, Digest, Files, Log, Signer } from '../../kernel/ports.ts';
import type { Availability } from './availability.ts';
import { listed, signCheckpoint, type Checkpoint } from './checkpoint.ts';
import type { NoteKey } from './note.ts';
import type { OpenedLog } from './open-log.ts';
import { encodeRecord, maxRecordBytes, type Draft } from './record.ts';
import { formatResume, resumePath, type Resume, type ResumeSeal } from './resume.ts';
import { createSegments } from './segments.ts';
import { latestPath, listPath } from './signed-checkpoints.ts';
import type { AuditRecord } from './model.ts';

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
  /** One synchronous write. Throws `audit.unavailable` and `audit.bad_entry`; then nothing was written. */
  append(draft: Draft, committedAt?: number): void;
  /** Throws `audit.bad_entry` for what `append` would refuse. */
  check(draft: Draft): void;
  /** Resolves when everything appended before is on stable storage. */
  sync(): Promise<void>;
  /** Resolves with a durable checkpoint over everything appended before. */
  checkpoint(): Promise<Checkpoint>;
  /** Writes tiles and the resume hint; a failure is logged and tried again at the next checkpoint. */
  persist(): Promise<void>;
  close(): Promise<void>;
}

export function createWriter(deps: WriterDeps): Writer {
  const { files, folder, clock, digest, key, signer, log, availability, opened, outstanding } = deps;
  const { frontier, tiles, openIntents } = opened;
  const segments = createSegments(files, folder, opened.position, deps.segmentBytes);
  // The byte before the record is the prefix of its leaf hash first and half of its length then: no copy is made.
  const frame = new Uint8Array(2 + maxRecordBytes + 1);
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

  const sync = coalesce(async () => {
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
    append(draft, committedAt) {
      availability.assert();
      const length = encodeRecord(recordOf(draft, committedAt), frame, 2);
      frame[1] = 0;
      const leaf = digest.sha256(frame.subarray(1, 2 + length));
      frame[0] = length >> 8;
      frame[1] = length & 0xff;
      try {
        segments.append(frontier.size, frame.subarray(0, 2 + length));
      } catch (thrown) {
        throw availability.fail(thrown, 'room');
      }
      last = { bytes: length + 2, leaf };
      rights = draft.rights ?? rights;
      frontier.push(leaf, 0, tiles.completed);
      if (draft.event === 'call.intent') openIntents.set(draft.id, draft.actor);
      if (draft.intent !== undefined) openIntents.delete(draft.intent);
      checkpointSoon();
    },
    check(draft) {
      encodeRecord({ v: 1, ...draft, t: Number.MAX_SAFE_INTEGER, committedAt: Number.MAX_SAFE_INTEGER }, frame, 2);
    },
    sync,
    checkpoint,
    persist,
    async close() {
      cancelTimer?.();
      await persist();
      segments.close();
      tiles.close();
      list?.close();
    },
  };
}
