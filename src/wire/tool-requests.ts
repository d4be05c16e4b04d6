// The params of tools/list and tools/call, which every era writes alike. Knows no revision.
import { AppError } from '../kernel/errors.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { SharedRequest } from './era.ts';
import { isObject, isRequestId } from './jsonrpc.ts';

/** Throws AppError `wire.bad_params`. */
export function readListTools({ cursor }: JsonObject): SharedRequest {
  if (cursor !== undefined && typeof cursor !== 'string') throw badParams('"cursor" must be the string of an earlier nextCursor.');
  return { kind: 'list_tools', cursor };
}

/** Throws AppError `wire.bad_params`. Whatever else the params hold stays in `rest`. */
export function readCallTool(params: JsonObject): Extract<SharedRequest, { kind: 'call_tool' }> {
  const { name, arguments: args, _meta: meta, ...rest } = params;
  if (typeof name !== 'string') throw badParams('tools/call needs "name", a string.');
  if (args !== undefined && !isObject(args)) throw badParams('"arguments" must be an object.');
  if (meta === undefined) return { kind: 'call_tool', name, args, rest, progressToken: undefined };
  const { progressToken, ...others } = readMeta(meta);
  if (progressToken !== undefined && !isRequestId(progressToken))
    throw badParams('"progressToken" must be a string or an integer.');
  const kept = Object.keys(others).length === 0 ? rest : { ...rest, _meta: others };
  return { kind: 'call_tool', name, args, rest: kept, progressToken };
}

function readMeta(meta: Json): JsonObject {
  if (!isObject(meta)) throw badParams('"_meta" must be an object.');
  return meta;
}

export function badParams(message: string): AppError {
  return new AppError('invalid', 'wire.bad_params', message);
}
