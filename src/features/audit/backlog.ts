// Records that must come although the log could not take them when they were due: what was already committed, and outcomes of
// calls that already ran. Kept in order; durable copies are the outbox rows and the open intents.
import type { Writer } from './writer.ts';
import type { Draft } from './record.ts';

interface Late {
  readonly draft: Draft;
  readonly committedAt: number;
  readonly appended: () => void;
}

export interface Backlog {
  readonly length: number;
  /** Appends now, or as soon as the log records again; `appended` is called either way. Never throws. */
  deliver(draft: Draft, committedAt: number, appended: () => void): void;
  /** Appends what waits until it fails again. */
  drain(): void;
}

/** The drafts have passed `Writer.check`, so that only an outage can hold them back. */
export function createBacklog(writer: Pick<Writer, 'append'>): Backlog {
  const waiting: Late[] = [];
  function drain(): void {
    while (waiting.length > 0) {
      const { draft, committedAt, appended } = waiting[0] as Late;
      try {
        writer.append(draft, committedAt);
      } catch {
        return;
      }
      waiting.shift();
      appended();
    }
  }
  return {
    get length() {
      return waiting.length;
    },
    deliver(draft, committedAt, appended) {
      waiting.push({ draft, committedAt, appended });
      drain();
    },
    drain,
  };
}
