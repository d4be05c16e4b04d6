// The books of tasks: bounds, time and who finds what.
import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import type { AgentCaller } from '../../kernel/caller.ts';
import { createOwnedTasks, mostTasks, type OwnedTask } from './owned-tasks.ts';

const kimi: AgentCaller = { kind: 'agent', agent: 'kimi', session: 's1' };
const all = { kind: 'all' } as const;

function books() {
  const clock = createFakeClock();
  const lost: string[] = [];
  const owned = createOwnedTasks({ clock, gone: ({ id }, why) => void lost.push(`${id} ${why}`) });
  const add = (id: string, more: Partial<OwnedTask> = {}): OwnedTask => {
    const task: OwnedTask = {
      agent: 'kimi',
      upstream: 'a',
      id,
      session: undefined,
      subject: { capability: 'a:call:job', hash: undefined, annotations: {} },
      args: undefined,
      admission: { policy: 'p', rule: 'r', redact: [], ttlMs: 60_000, byPerson: false, standsOn: {} },
      intent: 'i',
      host: undefined,
      madeAt: clock.monotonic(),
      forgetAt: clock.monotonic() + 1_000,
      ended: false,
      ...more,
    };
    owned.add(task);
    return task;
  };
  return { clock, lost, owned, add };
}

test('[TASK-9] a task is forgotten when its time is over', () => {
  const { clock, lost, owned, add } = books();
  add('t1');
  clock.advance(999);
  expect(owned.find(kimi, all, 't1')).toBeDefined();
  clock.advance(1);
  expect(owned.find(kimi, all, 't1')).toBeUndefined();
  expect(lost).toEqual(['t1 expired']);
  expect(owned.called('a', 't1')).toEqual([]);
});

test('[TASK-9] an agent that has as many as it may loses one that ended first, else its oldest, and nobody else does', () => {
  const { lost, owned, add } = books();
  add('other', { agent: 'other' });
  const tasks = Array.from({ length: mostTasks }, (_, n) => add(`t${n}`));
  expect(owned.unfinished('kimi')).toBe(mostTasks);
  const [, , third] = tasks;
  if (third !== undefined) third.ended = true;
  add('one more');
  add('and more');
  expect(lost).toEqual(['t2 crowded_out', 't0 crowded_out']);
  expect(owned.of(kimi, all)).toHaveLength(mostTasks);
  expect(owned.called('a', 'other')).toHaveLength(1);
});

test('[TASK-3] only its own session finds a task that is kept for it alone, and no toolset has any', () => {
  const { owned, add } = books();
  const task = add('t', { session: 's1' });
  expect(owned.find(kimi, all, 't')).toBe(task);
  expect(owned.find({ ...kimi, session: 's2' }, all, 't')).toBeUndefined();
  expect(owned.find({ ...kimi, agent: 'other' }, all, 't')).toBeUndefined();
  expect(owned.find(kimi, { kind: 'upstream', upstream: 'b' }, 't')).toBeUndefined();
  expect(owned.find(kimi, { kind: 'toolset', toolset: 'gate' }, 't')).toBeUndefined();
});

test('[TASK-6] an id that is given again is another task, unless sessions are kept apart', () => {
  const { lost, owned, add } = books();
  add('t');
  const second = add('t', { agent: 'other' });
  expect(lost).toEqual(['t reissued']);
  expect(owned.find(kimi, all, 't')).toBeUndefined();
  const [mine, theirs] = [add('x', { session: 's1' }), add('x', { agent: 'other', session: 's9' })];
  expect(owned.find(kimi, all, 'x')).toBe(mine);
  expect(owned.called('a', 'x')).toEqual([mine, theirs]);
  owned.removeAll(({ session }) => session === 's1', 'lost');
  expect(owned.called('a', 'x')).toEqual([theirs]);
  expect(owned.called('a', 't')).toEqual([second]);
});
