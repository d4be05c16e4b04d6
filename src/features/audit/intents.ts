// The two records of a call: the intent before its effect, the outcome after. Knows nothing of calls.
import { AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Backlog } from './backlog.ts';
import { opensIntent, type AuditEntry, type Grade, type Outcome } from './model.ts';
import type { Drafter } from './record.ts';
import type { Writer } from './writer.ts';

/** An intent on the record; its effect may start now. */
export interface Intent {
  readonly id: string;
  /**
   * Hands in the second record, `call.outcome` with the outcome among its facts, for the next write; never throws. While the log is
   * unavailable it waits in memory; if the process ends first, the next start records `unknown`. Only the first call counts.
   */
  close(outcome: Outcome, facts?: JsonObject, sealed?: Readonly<Record<string, string>>): void;
}

export interface Intents {
  open(entry: AuditEntry, grade: Grade): Promise<Intent>;
  /** Closes as `unknown` what a crash left open; id → actor. */
  closeUnknown(left: ReadonlyMap<string, string>): void;
}

export function createIntents(deps: { clock: Clock; drafter: Drafter; writer: Writer; backlog: Backlog }): Intents {
  const { clock, drafter, writer, backlog } = deps;

  function outcome(id: string, entry: Omit<AuditEntry, 'event'>): void {
    const deliver = (facts: Omit<AuditEntry, 'event'>): void =>
      backlog.deliver(drafter.draft({ event: 'call.outcome', ...facts }, id), Math.floor(clock.now()), () => undefined);
    try {
      deliver(entry);
    } catch {
      // The call did run: its outcome is recorded even where the facts about it cannot be.
      deliver({ actor: entry.actor, facts: { outcome: entry.facts?.['outcome'] ?? null, unrecordable: true } });
    }
  }

  function intentOf(id: string, actor: string): Intent {
    let closed = false;
    return {
      id,
      close(result, facts, sealed) {
        if (closed) return;
        closed = true;
        outcome(id, { actor, facts: { ...facts, outcome: result }, ...(sealed && { sealed }) });
      },
    };
  }

  return {
    open(entry, grade) {
      // One promise and no more: every call waits here.
      const written = new Promise<Intent>((resolve, reject) => {
        if (!opensIntent(entry.event)) {
          // A start knows open intents by their event.
          throw new AppError('internal', 'audit.bad_entry', `'${entry.event}' is no event that a second record closes`);
        }
        const draft = drafter.draft(entry);
        writer.put(draft, (error) => (error === undefined ? resolve(intentOf(draft.id, entry.actor)) : reject(error)));
      });
      return grade === 'written' ? written : written.then((intent) => writer.sync().then(() => intent));
    },
    closeUnknown(left) {
      for (const [id, actor] of left) outcome(id, { actor, facts: { outcome: 'unknown' } });
    },
  };
}
