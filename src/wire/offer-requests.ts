// The params of requests for prompts, resources and completion, which every era writes alike. Knows no revision.
import type { ListName } from '../kernel/dispatch.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { SharedRequest } from './era.ts';
import { isObject } from './jsonrpc.ts';
import { badParams, readArguments, readRest } from './tool-requests.ts';

type Relay = Extract<SharedRequest, { kind: 'relay' }>;
type Reader<Request> = (params: JsonObject) => Request;

/** Throws AppError `wire.bad_params`. */
export function readList(list: ListName): Reader<Extract<SharedRequest, { kind: 'list' }>> {
  return ({ cursor }) => {
    if (cursor !== undefined && typeof cursor !== 'string')
      throw badParams('"cursor" must be the string of an earlier nextCursor.');
    return { kind: 'list', list, cursor };
  };
}

/** The lists of an era, by method. */
export const listRequests = [
  ['tools/list', readList('tools')],
  ['prompts/list', readList('prompts')],
  ['resources/list', readList('resources')],
  ['resources/templates/list', readList('resourceTemplates')],
] as const;

/** What is relayed, by method. Readers throw AppError `wire.bad_params`; what else the params hold stays in `rest`. */
export const relayRequests: readonly (readonly [string, Reader<Relay>])[] = [
  ['prompts/get', readGetPrompt],
  ['resources/read', readReadResource],
  ['completion/complete', readComplete],
];

function readGetPrompt(params: JsonObject): Relay {
  const { name, arguments: args, ...others } = params;
  if (typeof name !== 'string') throw badParams('prompts/get needs "name", a string.');
  return { kind: 'relay', method: 'prompts/get', target: { kind: 'prompt', name }, args: readArguments(args), ...readRest(others) };
}

function readReadResource(params: JsonObject): Relay {
  const { uri, ...others } = params;
  if (typeof uri !== 'string') throw badParams('resources/read needs "uri", a string.');
  return { kind: 'relay', method: 'resources/read', target: { kind: 'resource', uri }, args: undefined, ...readRest(others) };
}

/** `ref` stays in `rest`, for whatever else it holds. */
function readComplete(params: JsonObject): Relay {
  const { ref, argument } = params;
  if (!isObject(argument) || typeof argument['name'] !== 'string' || typeof argument['value'] !== 'string')
    throw badParams('completion/complete needs "argument", an object with "name" and "value", both strings.');
  return { kind: 'relay', method: 'completion/complete', target: targetOf(ref), args: undefined, ...readRest(params) };
}

function targetOf(ref: JsonObject[string] | undefined): Relay['target'] {
  const { type, name, uri } = isObject(ref) ? ref : {};
  if (type === 'ref/prompt' && typeof name === 'string') return { kind: 'prompt', name };
  if (type === 'ref/resource' && typeof uri === 'string') return { kind: 'template', uri };
  throw badParams('completion/complete needs "ref": {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…}.');
}
