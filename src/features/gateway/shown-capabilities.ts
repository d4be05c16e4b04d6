// What an upstream is told that a client can do: the client's own words, without what the gateway would refuse anyway.
import type { JsonObject } from '../../kernel/json.ts';
import { isObject } from './ask-verdict.ts';
import { taskExtension } from './task-words.ts';

/** Capabilities of clients, and the method that each of them stands for. */
const methods = {
  sampling: 'sampling/createMessage',
  elicitation: 'elicitation/create',
  roots: 'roots/list',
  tasks: 'tasks/get',
} as const;

/**
 * The very same object where nothing is left out. `mayPass`: could this method ever be asked? `inSession`: the client is of a 2025 revision,
 * so that a call answered with a task of the extension would have been made for nothing.
 */
export function shownCapabilities(declared: JsonObject, mayPass: (method: string) => boolean, inSession: boolean): JsonObject {
  const hidden = Object.entries(methods).filter(([name, method]) => declared[name] !== undefined && !mayPass(method));
  const shown =
    hidden.length === 0
      ? declared
      : Object.fromEntries(Object.entries(declared).filter(([name]) => !hidden.some(([other]) => other === name)));
  const { extensions } = shown;
  if (!inSession || !isObject(extensions) || extensions[taskExtension] === undefined) return shown;
  const { [taskExtension]: _, ...others } = extensions;
  return { ...shown, extensions: others };
}
