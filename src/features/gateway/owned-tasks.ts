// The books of which task belongs to whom: found by agent and id, bounded for each agent, forgotten when their time is over. In memory
// only, like the sessions they come from. Decides nothing and asks nobody.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { ClientHost } from '../../kernel/client-host.ts';
import type { ToolScope } from '../../kernel/dispatch.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Admission, Subject } from './model.ts';

/** A call that goes on after its answer, under the id its upstream gave it. */
export interface OwnedTask {
  readonly agent: string;
  readonly upstream: string;
  readonly id: string;
  /** The one session that may ask for it, where its upstream keeps it for that session alone. */
  readonly session: string | undefined;
  /** Of the call it began as. */
  readonly subject: Subject;
  readonly args: JsonObject | undefined;
  readonly admission: Admission;
  readonly intent: string;
  /** Who is told how it goes, while that client is there. */
  readonly host: ClientHost | undefined;
  /** Monotonic milliseconds. */
  readonly madeAt: number;
  forgetAt: number;
  /** How it ended is on the record. */
  ended: boolean;
}

/** `reissued`: the upstream gave the id again. */
export type TaskLoss = 'expired' | 'crowded_out' | 'reissued' | 'lost';

export interface OwnedTasks {
  /** An id that is given again is another task: whoever had it has it no longer. */
  add(task: OwnedTask): void;
  find(caller: AgentCaller, scope: ToolScope, id: string): OwnedTask | undefined;
  /** Those the caller may ask for, the oldest first. */
  of(caller: AgentCaller, scope: ToolScope): readonly OwnedTask[];
  /** Every task of an upstream that goes by this id, whose ever it is. */
  called(upstream: string, id: string): readonly OwnedTask[];
  remove(task: OwnedTask, why: TaskLoss): void;
  removeAll(which: (task: OwnedTask) => boolean, why: TaskLoss): void;
  /** Tasks of the agent that have not ended, as far as anybody knows. */
  unfinished(agent: string): number;
}

/** An upstream may make tasks of calls that did not ask for it: then the one that ended first, or is the oldest, makes room. */
export const mostTasks = 256;

export function createOwnedTasks({
  clock,
  gone,
}: {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly gone: (task: OwnedTask, why: TaskLoss) => void;
}): OwnedTasks {
  const byAgent = new Map<string, Set<OwnedTask>>();
  const byPlace = new Map<string, Set<OwnedTask>>();

  function remove(task: OwnedTask, why: TaskLoss): void {
    const own = byAgent.get(task.agent);
    if (own?.delete(task) !== true) return;
    if (own.size === 0) byAgent.delete(task.agent);
    const place = placeOf(task.upstream, task.id);
    const there = byPlace.get(place);
    there?.delete(task);
    if (there?.size === 0) byPlace.delete(place);
    gone(task, why);
  }

  function ofAgent(agent: string): readonly OwnedTask[] {
    const now = clock.monotonic();
    const own = [...(byAgent.get(agent) ?? [])];
    for (const task of own) if (task.forgetAt <= now) remove(task, 'expired');
    return own.filter(({ forgetAt }) => forgetAt > now);
  }

  function of({ agent, session }: AgentCaller, scope: ToolScope): readonly OwnedTask[] {
    if (scope.kind === 'toolset') return [];
    return ofAgent(agent).filter(
      (task) =>
        (task.session === undefined || task.session === session) && (scope.kind === 'all' || scope.upstream === task.upstream),
    );
  }

  const called = (upstream: string, id: string): readonly OwnedTask[] => [...(byPlace.get(placeOf(upstream, id)) ?? [])];

  return {
    add(task) {
      for (const other of called(task.upstream, task.id)) if (other.session === task.session) remove(other, 'reissued');
      const own = ofAgent(task.agent);
      const first = own.find(({ ended }) => ended) ?? own[0];
      if (own.length >= mostTasks && first !== undefined) remove(first, 'crowded_out');
      put(byAgent, task.agent, task);
      put(byPlace, placeOf(task.upstream, task.id), task);
    },
    find: (caller, scope, id) => of(caller, scope).find((task) => task.id === id),
    of,
    called,
    remove,
    removeAll(which, why) {
      for (const own of byAgent.values()) for (const task of own) if (which(task)) remove(task, why);
    },
    unfinished: (agent) => ofAgent(agent).filter(({ ended }) => !ended).length,
  };
}

function put(books: Map<string, Set<OwnedTask>>, key: string, task: OwnedTask): void {
  const there = books.get(key);
  if (there === undefined) books.set(key, new Set([task]));
  else there.add(task);
}

/** No name of an upstream holds a colon. */
function placeOf(upstream: string, id: string): string {
  return `${upstream}:${id}`;
}
