// The params of what is asked about tasks, in both revisions that have them: 2025-11-25 ("Tasks") and the extension of 2026-07-28
// (SEP-2663). Knows no owner.
import { AppError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { SharedRequest } from './era.ts';
import { isObject } from './jsonrpc.ts';
import { badParams, readRest } from './tool-requests.ts';

type Relay = Extract<SharedRequest, { kind: 'relay' }>;
type Reader = (params: JsonObject) => Relay;

export const taskExtension = 'io.modelcontextprotocol/tasks';

/** By method. Readers throw AppError `wire.bad_params`; what else the params hold stays in `rest`. */
export const sessionTaskRequests: readonly (readonly [string, Reader])[] = [
  ...['tasks/get', 'tasks/result', 'tasks/cancel'].map((method) => [method, readTask(method)] as const),
  ['tasks/list', readTaskList],
];

/** The extension knows no list, and a result is found in the task itself. */
export const extensionTaskRequests: readonly (readonly [string, Reader])[] = ['tasks/get', 'tasks/update', 'tasks/cancel'].map(
  (method) => [method, readTask(method)] as const,
);

function readTask(method: string): Reader {
  return ({ taskId, ...others }) => {
    if (typeof taskId !== 'string') throw badParams(`${method} needs "taskId", a string.`);
    return { kind: 'relay', method, target: { kind: 'task', id: taskId }, args: undefined, ...readRest(others) };
  };
}

function readTaskList({ cursor, ...others }: JsonObject): Relay {
  if (cursor !== undefined && typeof cursor !== 'string') throw badParams('"cursor" must be the string of an earlier nextCursor.');
  return { kind: 'relay', method: 'tasks/list', target: { kind: 'tasks', cursor }, args: undefined, ...readRest(others) };
}

/** Throws `wire.missing_capability` for a client that did not declare the extension: it could not have got a task. */
export function requireTaskExtension({ extensions }: JsonObject): void {
  if (isObject(extensions) && isObject(extensions[taskExtension])) return;
  throw new AppError('invalid', 'wire.missing_capability', `Declare the extension ${taskExtension} to ask about tasks.`, {
    data: { requiredCapabilities: { extensions: { [taskExtension]: {} } } },
  });
}
