// The handshake era: 2025-03-26, 2025-06-18 and 2025-11-25, which write everything served here alike. Registry of the methods an
// agent may use at our door, and the shapes of our answers (schema 2025-11-25). Knows no session and no transport.
import type { JsonObject } from '../kernel/json.ts';
import type { AgentNotice, HandshakeEra, HandshakeRequest } from './era.ts';
import { encodeNotification, isRequestId, rpcCode } from './jsonrpc.ts';
import { capabilitiesOf } from './capabilities.ts';
import { listRequests, relayRequests } from './offer-requests.ts';
import { badParams, readCallTool } from './tool-requests.ts';

const versions = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;

const requests = new Map<string, (params: JsonObject) => HandshakeRequest>([
  ['initialize', readInitialize],
  ['ping', () => ({ kind: 'ping' })],
  ...listRequests,
  ['tools/call', readTaskless],
  ...relayRequests,
]);

const notices = new Map<string, (params: JsonObject) => AgentNotice>([
  ['notifications/initialized', () => ({ kind: 'initialized' })],
  [
    'notifications/cancelled',
    ({ requestId }) => ({ kind: 'cancelled', requestId: isRequestId(requestId) ? requestId : undefined }),
  ],
]);

export const era2025: HandshakeEra = {
  versions,
  requests,
  notices,
  codes: { refused: rpcCode.serverError, over: rpcCode.sessionNotFound, noResource: rpcCode.resourceNotFound, noMethodStatus: 200 },
  // Lifecycle, "Version Negotiation": an unknown version is answered with the latest one we speak.
  negotiate: (requested) => versions.find((version) => version === requested) ?? versions[0],
  results: {
    empty: '{}',
    initialized: (protocolVersion, { serverInfo, instructions }, offering) =>
      JSON.stringify({
        protocolVersion,
        capabilities: capabilitiesOf(offering),
        serverInfo,
        ...(instructions === '' ? {} : { instructions }),
      }),
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

function readInitialize({ protocolVersion }: JsonObject): HandshakeRequest {
  if (typeof protocolVersion !== 'string') throw badParams('initialize needs "protocolVersion", a string.');
  return { kind: 'initialize', version: protocolVersion };
}

/** `task` is left out: no task support is declared, so the request is processed as if it were not there (2025-11-25, Tasks). */
function readTaskless(params: JsonObject): HandshakeRequest {
  if (!Object.hasOwn(params, 'task')) return readCallTool(params);
  const { task: _, ...others } = params;
  return readCallTool(others);
}
