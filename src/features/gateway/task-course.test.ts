// How long a task is kept, and what its end is.
import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { AuditEntry } from '../audit/model.ts';
import type { UpstreamAnswer } from '../fleet/fleet.ts';
import type { OwnedTask } from './owned-tasks.ts';
import { createTaskCourse, hourMs } from './task-course.ts';

function course(append?: () => never) {
  const clock = createFakeClock();
  const recorded: unknown[] = [];
  const audit = { append: append ?? ((entry: AuditEntry) => ({ id: String(recorded.push(entry.facts?.['status'])) })) };
  const task: OwnedTask = {
    agent: 'kimi',
    upstream: 'a',
    id: 't',
    session: undefined,
    subject: { capability: 'a:call:job', hash: undefined, annotations: {} },
    args: undefined,
    admission: { policy: 'p', rule: 'r', redact: [], ttlMs: 60_000, byPerson: false, standsOn: {} },
    intent: 'i',
    host: undefined,
    madeAt: clock.monotonic(),
    forgetAt: clock.monotonic(),
    ended: false,
  };
  return { clock, recorded, task, course: createTaskCourse({ audit, clock }) };
}

const result = (value: JsonObject): UpstreamAnswer => ({ kind: 'result', json: JSON.stringify(value), value, isError: false });
const error = (code: number): UpstreamAnswer => ({ kind: 'error', json: '{}', code });

test.each([
  [undefined, 24 * hourMs],
  [0, 60_000],
  [90_000, 150_000],
  [1e15, 7 * 24 * hourMs],
])('[TASK-9] with a time to live of %s it is kept for %s ms from its beginning', (ttlMs, kept) => {
  const { clock, task, course: how } = course();
  clock.advance(1_000);
  how.seen(task, { status: 'working', ttlMs });
  expect(task.forgetAt).toBe(kept);
});

test('[TASK-9] after its end it is kept an hour, or what is left of its time', () => {
  const { clock, task, course: how } = course();
  how.seen(task, { status: 'working', ttlMs: undefined });
  clock.advance(hourMs);
  how.answered(task, 'tasks/get', result({ taskId: 't', status: 'cancelled', ttl: null }));
  expect(task.forgetAt).toBe(2 * hourMs);
  clock.advance(1_000);
  how.answered(task, 'tasks/get', result({ taskId: 't', status: 'cancelled', ttl: null }));
  expect(task.forgetAt).toBe(2 * hourMs);
});

test.each<[string, UpstreamAnswer, unknown[]]>([
  ['tasks/get', result({ taskId: 't', status: 'completed' }), ['completed']],
  ['tasks/get', result({ taskId: 't', status: 'working' }), []],
  ['tasks/get', result({ taskId: 'another', status: 'failed' }), []],
  ['tasks/get', result({ taskId: 't', status: 'finished' }), []],
  ['tasks/get', error(-32602), []],
  ['tasks/cancel', result({ resultType: 'complete' }), []],
  ['tasks/cancel', result({ taskId: 't', status: 'cancelled' }), ['cancelled']],
  ['tasks/result', result({ content: [] }), ['completed']],
  ['tasks/result', error(-32050), ['failed']],
  ['tasks/result', error(-32602), []],
])('[TASK-5] %s answered with %j is recorded as %j', (method, answer, ends) => {
  const { recorded, task, course: how } = course();
  how.answered(task, method, answer);
  how.answered(task, method, answer);
  expect(recorded).toEqual(ends);
});

test('[TASK-5] a record that is out does not keep a task from ending', () => {
  const { task, course: how } = course(() => {
    throw new Error('the disk is full');
  });
  how.ended(task, 'lost');
  expect(task.ended).toBe(true);
});
