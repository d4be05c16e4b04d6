// Whether the log can record now. Down after a failed write until there is room again; after a failed sync until the next start,
// since then nobody knows what the disk holds. Knows nothing of records.
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { Clock, Files, Log } from '../../kernel/ports.ts';

/** A time in which nothing could be recorded. */
export interface Outage {
  readonly reason: string;
  readonly sinceMs: number;
  refused: number;
}

export interface Availability {
  readonly outage: Outage | undefined;
  /** Throws `audit.unavailable` during an outage and counts the refusal. */
  assert(): void;
  /** Starts an outage and returns the refusal to throw. */
  fail(cause: unknown, until: 'room' | 'restart'): AppError;
  close(): void;
}

const probeMs = 1_000;
const probeBytes = 1 << 16;

function reasonOf(cause: unknown): string {
  const errno = asAppError(cause).data?.['errno'];
  if (errno === 'ENOSPC' || errno === 'EDQUOT') return 'the disk is full';
  return typeof errno === 'string' ? `the disk refuses to write (${errno})` : 'it cannot write';
}

/** `onRoom`: called when a probe found room again, with the outage that ended; it may call `fail` anew. */
export function createAvailability(deps: {
  readonly clock: Clock;
  readonly files: Files;
  readonly folder: string;
  readonly log: Log;
  readonly onRoom: (ended: Outage) => void;
}): Availability {
  const { clock, files, folder, log, onRoom } = deps;
  let outage: Outage | undefined;
  let cancelProbe = (): void => {};
  let closed = false;

  async function probe(): Promise<void> {
    const path = `${folder}/probe`;
    try {
      // More than one record needs, so that the log does not come back for a single one.
      await files.writeAtomic(path, new Uint8Array(probeBytes));
      await files.remove(path);
    } catch {
      await files.remove(path).catch(() => undefined);
      probeLater();
      return;
    }
    const ended = outage;
    if (closed || ended === undefined) return;
    outage = undefined;
    log.info('the audit log records again', { down_ms: Math.round(clock.monotonic() - ended.sinceMs), refused: ended.refused });
    onRoom(ended);
  }

  function probeLater(): void {
    if (closed) return;
    cancelProbe = clock.after(probeMs, () => {
      void probe();
    });
  }

  function refusal({ reason }: Outage): AppError {
    return new AppError('unavailable', 'audit.unavailable', `Nothing can be recorded, so nothing is done: ${reason}.`, {
      hint:
        reason === 'the disk is full'
          ? 'Make room on the disk that holds the audit log; it goes on by itself within a second.'
          : 'Check the disk that holds the audit log, then restart the daemon.',
      retryAfterMs: probeMs,
    });
  }

  return {
    get outage() {
      return outage;
    },
    assert() {
      if (outage === undefined) return;
      outage.refused += 1;
      throw refusal(outage);
    },
    fail(cause, until) {
      if (outage === undefined) {
        const reason = until === 'room' ? reasonOf(cause) : `${reasonOf(cause)} and may have lost what it was given`;
        outage = { reason, sinceMs: clock.monotonic(), refused: 0 };
        log.error('the audit log cannot record; what must be recorded is refused', { reason, cause: asAppError(cause).message });
        if (until === 'room') probeLater();
      }
      return refusal(outage);
    },
    close() {
      closed = true;
      cancelProbe();
    },
  };
}
