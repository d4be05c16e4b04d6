// What an upstream is told that a client can do: the client's own words, without what the gateway would refuse anyway.
import type { JsonObject } from '../../kernel/json.ts';

/** Capabilities of clients, and the method that each of them stands for. */
const methods = {
  sampling: 'sampling/createMessage',
  elicitation: 'elicitation/create',
  roots: 'roots/list',
  tasks: 'tasks/get',
} as const;

/** The very same object where nothing is left out. `mayPass`: could this method ever be asked? */
export function shownCapabilities(declared: JsonObject, mayPass: (method: string) => boolean): JsonObject {
  const hidden = Object.entries(methods).filter(([name, method]) => declared[name] !== undefined && !mayPass(method));
  if (hidden.length === 0) return declared;
  return Object.fromEntries(Object.entries(declared).filter(([name]) => !hidden.some(([other]) => other === name)));
}
