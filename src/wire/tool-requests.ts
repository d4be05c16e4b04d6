// The params of tools/call, and what the params of every relayed request hold alike in every era. Knows no revision.
import { AppError } from '../kernel/errors.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { SharedRequest } from './era.ts';
import { isObject, isRequestId, type RequestId } from './jsonrpc.ts';

/** Throws AppError `wire.bad_params`. Whatever else the params hold stays in `rest`. */
export function readCallTool(params: JsonObject): Extract<SharedRequest, { kind: 'call_tool' }> {
  const { name, arguments: args, ...others } = params;
  if (typeof name !== 'string') throw badParams('tools/call needs "name", a string.');
  return { kind: 'call_tool', name, args: readArguments(args), ...readRest(others) };
}

/** Throws AppError `wire.bad_params`. */
export function readArguments(args: Json | undefined): JsonObject | undefined {
  if (args !== undefined && !isObject(args)) throw badParams('"arguments" must be an object.');
  return args;
}

/** Params without the progress token, which is of this hop only. Throws AppError `wire.bad_params`. */
export function readRest(params: JsonObject): { readonly rest: JsonObject; readonly progressToken: RequestId | undefined } {
  if (params['_meta'] === undefined) return { rest: params, progressToken: undefined };
  const { _meta: meta, ...rest } = params;
  const { progressToken, ...others } = readMeta(meta ?? null);
  if (progressToken !== undefined && !isRequestId(progressToken))
    throw badParams('"progressToken" must be a string or an integer.');
  return { rest: Object.keys(others).length === 0 ? rest : { ...rest, _meta: others }, progressToken };
}

function readMeta(meta: Json): JsonObject {
  if (!isObject(meta)) throw badParams('"_meta" must be an object.');
  return meta;
}

export function badParams(message: string): AppError {
  return new AppError('invalid', 'wire.bad_params', message);
}
