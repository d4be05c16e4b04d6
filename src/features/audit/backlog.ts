// Records that must come although the log could not take them when they were due: what was already committed, and outcomes of
// calls that already ran. Kept in order; durable copies are the outbox rows and the open intents.
import { asAppError } from '../../kernel/errors.ts';
import type { Writer } from './writer.ts';
import type { Draft } from './record.ts';

interface Late {
  readonly draft: Draft;
  readonly committedAt: number;
  readonly appended: () => void;
}

export interface Backlog {
  /**
   * Appends now, or as soon as the log records again; `appended` is called either way. Throws `audit.bad_entry` only, and then
   * the draft is not kept.
   */
  deliver(draft: Draft, committedAt: number, appended: () => void): void;
  /** Appends what waits until it fails again. */
  drain(): void;
}

export function createBacklog(writer: Pick<Writer, 'append' | 'check'>): Backlog {
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
    deliver(draft, committedAt, appended) {
      if (waiting.length > 0) {
        writer.check(draft);
        waiting.push({ draft, committedAt, appended });
        drain();
        return;
      }
      try {
        writer.append(draft, committedAt);
      } catch (thrown) {
        if (asAppError(thrown).code === 'audit.bad_entry') throw thrown;
        waiting.push({ draft, committedAt, appended });
        return;
      }
      appended();
    },
    drain,
  };
}
