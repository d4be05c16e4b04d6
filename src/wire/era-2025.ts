// The handshake era: 2025-03-26, 2025-06-18 and 2025-11-25, which write everything served here alike. Registry of the methods an
// agent may use at our door, and the shapes of our answers (schema 2025-11-25). Knows no session and no transport.
import { AppError } from '../kernel/errors.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { AgentNotice, AgentRequest, Era } from './era.ts';
import { encodeNotification, isObject, isRequestId } from './jsonrpc.ts';

const versions = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;

const requests = new Map<string, (params: JsonObject) => AgentRequest>([
  ['initialize', readInitialize],
  ['ping', () => ({ kind: 'ping' })],
  ['tools/list', readListTools],
  ['tools/call', readCallTool],
]);

const notices = new Map<string, (params: JsonObject) => AgentNotice>([
  ['notifications/initialized', () => ({ kind: 'initialized' })],
  [
    'notifications/cancelled',
    ({ requestId }) => ({ kind: 'cancelled', requestId: isRequestId(requestId) ? requestId : undefined }),
  ],
]);

export const era2025: Era = {
  versions,
  requests,
  notices,
  // Lifecycle, "Version Negotiation": an unknown version is answered with the latest one we speak.
  negotiate: (requested) => versions.find((version) => version === requested) ?? versions[0],
  results: {
    empty: '{}',
    initialized: (protocolVersion, { serverInfo, instructions }) =>
      JSON.stringify({
        protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo,
        ...(instructions === '' ? {} : { instructions }),
      }),
    toolPage: (tools, nextCursor) =>
      nextCursor === undefined
        ? `{"tools":[${tools.join(',')}]}`
        : `{"tools":[${tools.join(',')}],"nextCursor":${JSON.stringify(nextCursor)}}`,
    toolText: (text, isError) => `{"content":[{"type":"text","text":${JSON.stringify(text)}}]${isError ? ',"isError":true' : ''}}`,
  },
  notifications: {
    toolsChanged: encodeNotification('notifications/tools/list_changed'),
    progress: (progressToken, note) => encodeNotification('notifications/progress', JSON.stringify({ ...note, progressToken })),
  },
};

function readInitialize({ protocolVersion }: JsonObject): AgentRequest {
  if (typeof protocolVersion !== 'string') throw badParams('initialize needs "protocolVersion", a string.');
  return { kind: 'initialize', version: protocolVersion };
}

function readListTools({ cursor }: JsonObject): AgentRequest {
  if (cursor !== undefined && typeof cursor !== 'string') throw badParams('"cursor" must be the string of an earlier nextCursor.');
  return { kind: 'list_tools', cursor };
}

/** `task` is left out: no task support is declared, so the request is processed as if it were not there (2025-11-25, Tasks). */
function readCallTool(params: JsonObject): AgentRequest {
  const { name, arguments: args, _meta: meta, task: _, ...rest } = params;
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

function badParams(message: string): AppError {
  return new AppError('invalid', 'wire.bad_params', message);
}
