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
   * Takes the record for the next write, or for when the log records again; `appended` is called when it is in the log. Throws
   * `audit.bad_entry` only, and then the draft is not kept.
   */
  deliver(draft: Draft, committedAt: number, appended: () => void): void;
  /** Appends what waits until it fails again. */
  drain(): void;
}

export function createBacklog(writer: Pick<Writer, 'append' | 'check' | 'put'>): Backlog {
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
      const late = { draft, committedAt, appended };
      try {
        writer.put(draft, (error) => (error === undefined ? appended() : void waiting.push(late)), committedAt);
      } catch (thrown) {
        if (asAppError(thrown).code === 'audit.bad_entry') throw thrown;
        waiting.push(late);
      }
    },
    drain,
  };
}
