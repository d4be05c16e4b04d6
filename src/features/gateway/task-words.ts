// What results and notices say of a task, in the words of both revisions that have them: 2025-11-25 ("Tasks") and the extension of
// 2026-07-28 (`io.modelcontextprotocol/tasks`). Reads only; knows no owner.
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Offering } from '../../kernel/dispatch.ts';
import type { UpstreamAnswer } from '../fleet/fleet.ts';
import { isObject } from './ask-verdict.ts';

export const taskExtension = 'io.modelcontextprotocol/tasks';

export interface TaskWords {
  readonly id: string;
  readonly status: string | undefined;
  /** How long the upstream keeps it, from its creation on; `undefined` where it does not say, or promises for ever. */
  readonly ttlMs: number | undefined;
}

export const terminal: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** The task a result is, or stands for: `{task: {…}}` is how 2025-11-25 answers a call, flat is every other. */
export function taskIn(value: JsonObject): TaskWords | undefined {
  const { task = value } = value;
  if (!isObject(task)) return undefined;
  const { taskId: id, status, ttl, ttlMs = ttl } = task;
  if (typeof id !== 'string' || id === '') return undefined;
  return {
    id,
    status: typeof status === 'string' ? status : undefined,
    ttlMs: typeof ttlMs === 'number' && ttlMs >= 0 ? ttlMs : undefined,
  };
}

/** The task a call became. `asked`: the call wanted to be one (2025-11-25); elsewhere the upstream decides, and says so. */
export function taskMade(value: JsonObject, asked: boolean): TaskWords | undefined {
  if (value['resultType'] === 'task') return taskIn(value);
  return asked && isObject(value['task']) ? taskIn(value) : undefined;
}

/** A task of 2026-07-28 that waits for its client says within what is asked about it what it wants to know. */
export function taskAsks(
  method: string | undefined,
  answer: UpstreamAnswer,
): answer is Extract<UpstreamAnswer, { kind: 'result' }> {
  return method?.startsWith('tasks/') === true && answer.kind === 'result' && answer.value['inputRequests'] !== undefined;
}

/** What of tasks an upstream of 2025-11-25 says it can do for tool calls, and the gateway relays. */
export function sessionTasks(said: Offering['upstream']): JsonObject | undefined {
  const tasks = said?.capabilities['tasks'];
  if (!isObject(tasks)) return undefined;
  const { requests, list, cancel } = tasks;
  const call = isObject(requests) && isObject(requests['tools']) ? requests['tools']['call'] : undefined;
  if (!isObject(call)) return undefined;
  return {
    ...(isObject(list) ? { list } : {}),
    ...(isObject(cancel) ? { cancel } : {}),
    requests: { tools: { call } },
  };
}

/** The same of the extension. */
export function extensionTasks(said: Offering['upstream']): JsonObject | undefined {
  const extensions = said?.capabilities['extensions'];
  const settings: Json | undefined = isObject(extensions) ? extensions[taskExtension] : undefined;
  return isObject(settings) ? settings : undefined;
}
