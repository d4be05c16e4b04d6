// Records on their way into one write: their frames side by side, each with its leaf hash and somebody to be told how it went. Knows
// no file.
import type { AppError } from '../../kernel/errors.ts';
import type { Digest } from '../../kernel/ports.ts';
import type { AuditRecord } from './model.ts';
import { encodeRecord, maxRecordBytes } from './record.ts';

/** Called once: without an error when the record stands in the log, with one when nothing of it does. */
export type Told = (error: AppError | undefined) => void;

export interface Waiting {
  readonly record: AuditRecord;
  /** Of the whole frame. */
  readonly bytes: number;
  readonly leaf: Uint8Array;
  readonly told: Told;
}

export interface Batch {
  /** Whether any record at all would fit. */
  hasRoom(): boolean;
  /** Throws `audit.bad_entry` for what no record can hold, and then takes nothing. There must be room. */
  put(record: AuditRecord, told: Told): void;
  /** Throws what `put` would throw. There must be room. */
  check(record: AuditRecord): void;
  /** Everything waiting and its frames, which are valid until the next `put`. The batch is empty after. */
  take(): { readonly waiting: readonly Waiting[]; readonly frames: Uint8Array };
}

const frameHead = 2;
const largestFrame = frameHead + maxRecordBytes;

export function createBatch(digest: Digest): Batch {
  // One byte more than the largest, so that a record that is too long is told from one that just fits.
  const buffer = new Uint8Array(3 * largestFrame + 1);
  let used = 0;
  let waiting: Waiting[] = [];
  return {
    hasRoom: () => used + largestFrame < buffer.length,
    put(record, told) {
      const start = used + frameHead;
      const length = encodeRecord(record, buffer, start);
      // The byte before the record is the prefix of its leaf hash (RFC 6962) first and half of its length then: no copy is made.
      buffer[start - 1] = 0;
      const leaf = digest.sha256(buffer.subarray(start - 1, start + length));
      buffer[used] = length >> 8;
      buffer[used + 1] = length & 0xff;
      used = start + length;
      waiting.push({ record, bytes: frameHead + length, leaf, told });
    },
    check: (record) => void encodeRecord(record, buffer, used + frameHead),
    take() {
      const taken = { waiting, frames: buffer.subarray(0, used) };
      waiting = [];
      used = 0;
      return taken;
    },
  };
}
