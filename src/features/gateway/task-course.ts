// How a task goes, from what its upstream says of it: how long it is kept, and its end on the record, once. Asks nothing and finds nothing.
import type { Clock } from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import type { UpstreamAnswer } from '../fleet/fleet.ts';
import type { OwnedTask } from './owned-tasks.ts';
import { taskIn, terminal, type TaskWords } from './task-words.ts';

export interface TaskCourse {
  seen(task: OwnedTask, words: Pick<TaskWords, 'status' | 'ttlMs'>): void;
  answered(task: OwnedTask, method: string, answer: UpstreamAnswer): void;
  /** `how`: a terminal status, or why nobody will ever know one. */
  ended(task: OwnedTask, how: string): void;
}

export const hourMs = 60 * 60_000;
/** Where the upstream promises nothing, and where it promises more. */
const usuallyKeptMs = 24 * hourMs;
const longestKeptMs = 7 * usuallyKeptMs;
/** After its end, where the upstream keeps it longer. */
const keptEndedMs = hourMs;
/** Two clocks, and the way between them. */
const graceMs = 60_000;
const invalidParams = -32602;

export function createTaskCourse({ audit, clock }: { readonly audit: Pick<Audit, 'append'>; readonly clock: Clock }): TaskCourse {
  function ended(task: OwnedTask, how: string): void {
    if (task.ended) return;
    task.ended = true;
    task.forgetAt = Math.min(task.forgetAt, clock.monotonic() + keptEndedMs);
    const { agent, subject, intent } = task;
    try {
      audit.append({
        event: 'task.ended',
        actor: `agent:${agent}`,
        facts: { capability: subject.capability, intent, status: how },
      });
    } catch {
      // It ended all the same, and the record says of itself that it was out.
    }
  }

  function seen(task: OwnedTask, { status, ttlMs }: Pick<TaskWords, 'status' | 'ttlMs'>): void {
    const kept = task.madeAt + (ttlMs === undefined ? usuallyKeptMs : Math.min(ttlMs + graceMs, longestKeptMs));
    task.forgetAt = task.ended ? Math.min(kept, task.forgetAt) : kept;
    if (status !== undefined && terminal.has(status)) ended(task, status);
  }

  return {
    seen,
    ended,
    answered(task, method, answer) {
      if (method === 'tasks/result') {
        // The error a call ends with comes as the answer; what is wrong with the question is no end.
        if (answer.kind === 'result') ended(task, 'completed');
        else if (answer.code !== invalidParams) ended(task, 'failed');
        return;
      }
      const words = answer.kind === 'result' ? taskIn(answer.value) : undefined;
      if (words?.id === task.id) seen(task, words);
    },
  };
}
