// The handshake era: 2025-03-26, 2025-06-18 and 2025-11-25, which write everything served here alike. Registry of the methods an
// agent may use at our door, and the shapes of our answers (schema 2025-11-25). Knows no session and no transport.
import { logLevels, type LogLevel, type Offering } from '../kernel/dispatch.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { AgentNotice, HandshakeEra, HandshakeRequest } from './era.ts';
import { encodeNotification, isObject, isRequestId, rpcCode } from './jsonrpc.ts';
import { capabilitiesOf } from './capabilities.ts';
import { listRequests, relayRequests } from './offer-requests.ts';
import { sessionTaskRequests } from './task-requests.ts';
import { badParams, readCallTool } from './tool-requests.ts';

const versions = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
/** The one revision with JSON-RPC batches: 2025-06-18 took them away ("Key Changes"). */
const batching: string = '2025-03-26';
/** What a client says of itself is kept as long as its session; real ones say a few hundred characters. UTF-16 units. */
const maxClaimsLength = 64 * 1024;

const requests = new Map<string, (params: JsonObject) => HandshakeRequest>([
  ['initialize', readInitialize],
  ['ping', () => ({ kind: 'ping' })],
  ...listRequests,
  ['tools/call', readCallTool],
  ...relayRequests,
  ...sessionTaskRequests,
  ['logging/setLevel', readSetLevel],
  ['resources/subscribe', (params) => ({ kind: 'follow', uri: readUri('resources/subscribe', params) })],
  ['resources/unsubscribe', (params) => ({ kind: 'unfollow', uri: readUri('resources/unsubscribe', params) })],
]);

const notices = new Map<string, (params: JsonObject) => AgentNotice>([
  ['notifications/initialized', () => ({ kind: 'initialized' })],
  [
    'notifications/cancelled',
    ({ requestId }) => ({ kind: 'cancelled', requestId: isRequestId(requestId) ? requestId : undefined }),
  ],
  [
    'notifications/progress',
    ({ progressToken, ...note }) => ({ kind: 'progress', token: isRequestId(progressToken) ? progressToken : undefined, note }),
  ],
  ['notifications/roots/list_changed', () => ({ kind: 'roots_changed' })],
]);

export const era2025: HandshakeEra = {
  versions,
  requests,
  notices,
  codes: { refused: rpcCode.serverError, over: rpcCode.sessionNotFound, noResource: rpcCode.resourceNotFound, noMethodStatus: 200 },
  // Lifecycle, "Version Negotiation": an unknown version is answered with the latest one we speak.
  negotiate: (requested) => versions.find((version) => version === requested) ?? versions[0],
  hasBatches: (version) => version === batching,
  results: {
    empty: '{}',
    initialized: (protocolVersion, gateway, offering) => {
      const { serverInfo, instructions } = offering.upstream ?? gateway;
      return JSON.stringify({
        protocolVersion,
        capabilities: { ...capabilitiesOf(offering), ...tasksOf(protocolVersion, offering) },
        serverInfo,
        ...(instructions === undefined || instructions === '' ? {} : { instructions }),
      });
    },
    page: (list, entries, nextCursor) =>
      nextCursor === undefined
        ? `{"${list}":[${entries.join(',')}]}`
        : `{"${list}":[${entries.join(',')}],"nextCursor":${JSON.stringify(nextCursor)}}`,
    toolText: (text, isError) => `{"content":[{"type":"text","text":${JSON.stringify(text)}}]${isError ? ',"isError":true' : ''}}`,
    relayed: (result) => result,
    relayedRead: (result) => result,
  },
  relayedError: (error) => ({ error, status: 200 }),
  notifications: {
    listChanged: (list) => encodeNotification(`notifications/${list}/list_changed`),
    progress: (progressToken, note) => encodeNotification('notifications/progress', JSON.stringify({ ...note, progressToken })),
  },
};

/** Clients that say nothing of themselves are served: what they could be asked is then nothing. */
function readInitialize({ protocolVersion, capabilities = {}, clientInfo }: JsonObject): HandshakeRequest {
  if (typeof protocolVersion !== 'string') throw badParams('initialize needs "protocolVersion", a string.');
  if (!isObject(capabilities)) throw badParams('"capabilities" must be an object; {} says that the client can do nothing special.');
  if (clientInfo !== undefined && !isObject(clientInfo))
    throw badParams('"clientInfo" must be an object with "name" and "version".');
  if (JSON.stringify([capabilities, clientInfo ?? null]).length > maxClaimsLength)
    throw badParams(`"capabilities" and "clientInfo" are longer than ${maxClaimsLength} characters. Leave out what is not needed.`);
  return { kind: 'initialize', version: protocolVersion, client: { capabilities, info: clientInfo } };
}

function readSetLevel({ level }: JsonObject): HandshakeRequest {
  if (!isLogLevel(level)) throw badParams(`logging/setLevel needs "level", one of ${logLevels.join(', ')}.`);
  return { kind: 'set_log_level', level };
}

function isLogLevel(value: Json | undefined): value is LogLevel {
  return (logLevels as readonly (Json | undefined)[]).includes(value);
}

function readUri(method: string, { uri }: JsonObject): string {
  if (typeof uri !== 'string') throw badParams(`${method} needs "uri", a string.`);
  return uri;
}

/** Earlier revisions have none. */
function tasksOf(version: string, { sessionTasks }: Offering): JsonObject {
  return sessionTasks === undefined || version !== versions[0] ? {} : { tasks: sessionTasks };
}
