// Records of refusals that strangers can cause at will: at most so many a second of each kind, the rest counted. Never throws.
import { AppError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { AuditEntry, AuditEvent } from './model.ts';

const perWindow = 10;
const windowMs = 1_000;

export interface Quiet {
  record(entry: AuditEntry): void;
  /** Writes a last record for every kind that still has uncounted ones. */
  flush(): void;
}

/** `append` throws when the log is unavailable; what it could not take is counted as `unrecorded` in the next record of its kind. */
export function createQuiet(clock: Clock, append: (entry: AuditEntry) => void): Quiet {
  const kinds = new Map<AuditEvent, { windowStart: number; recorded: number; unrecorded: number }>();

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
      }
    },
    flush() {
      for (const [event, kind] of kinds) {
        if (kind.unrecorded > 0 && attempt({ event, actor: 'daemon' }, kind.unrecorded)) kind.unrecorded = 0;
      }
    },
  };
}
