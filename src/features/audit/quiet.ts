// Records of refusals that strangers can cause at will: at most so many a second of each kind, the rest counted, and the count on
// the record when the second is over, so that a flood hides no attempt for longer. Never throws.
import { AppError } from '../../kernel/errors.ts';
import type { Clock, Unsubscribe } from '../../kernel/ports.ts';
import type { AuditEntry, AuditEvent } from './model.ts';

const perWindow = 10;
const windowMs = 1_000;

export interface Quiet {
  record(entry: AuditEntry): void;
  /** Writes a last record for every kind that still has uncounted ones, and ends. */
  close(): void;
}

/** `append` throws when the log is unavailable; what it could not take is counted as `unrecorded` in the next record of its kind. */
export function createQuiet(clock: Clock, append: (entry: AuditEntry) => void): Quiet {
  const kinds = new Map<AuditEvent, { windowStart: number; recorded: number; unrecorded: number }>();
  const timers = new Map<AuditEvent, Unsubscribe>();

  function attempt(entry: AuditEntry, unrecorded: number): boolean {
    const counted = unrecorded > 0 ? { unrecorded } : undefined;
    try {
      append({ ...entry, ...((entry.facts ?? counted) && { facts: { ...entry.facts, ...counted } }) });
      return true;
    } catch (thrown) {
      if (!(thrown instanceof AppError && thrown.code === 'audit.bad_entry')) return false;
    }
    try {
      append({ event: entry.event, actor: entry.actor, facts: { oversized: true, ...counted } });
      return true;
    } catch {
      return false;
    }
  }

  function flush(event: AuditEvent): void {
    const kind = kinds.get(event);
    if (kind !== undefined && kind.unrecorded > 0 && attempt({ event, actor: 'daemon' }, kind.unrecorded)) kind.unrecorded = 0;
  }

  function flushLater(event: AuditEvent, ms: number): void {
    if (timers.has(event)) return;
    const timer = clock.after(ms, () => {
      timers.delete(event);
      flush(event);
    });
    timers.set(event, timer);
  }

  return {
    record(entry) {
      const now = clock.monotonic();
      let kind = kinds.get(entry.event);
      if (kind === undefined) kinds.set(entry.event, (kind = { windowStart: now, recorded: 0, unrecorded: 0 }));
      if (now - kind.windowStart >= windowMs) {
        kind.windowStart = now;
        kind.recorded = 0;
      }
      if (kind.recorded < perWindow && attempt(entry, kind.unrecorded)) {
        kind.recorded += 1;
        kind.unrecorded = 0;
      } else {
        kind.unrecorded += 1;
        flushLater(entry.event, kind.windowStart + windowMs - now);
      }
    },
    close() {
      for (const cancel of timers.values()) cancel();
      for (const event of kinds.keys()) flush(event);
    },
  };
}
