// The stateless era: 2026-07-28. Registry of the methods an agent may use at our door, and the shapes of our answers (schema
// 2026-07-28). Heads and envelopes are judged before (stateless-head.ts). Knows no session, for there is none, and no transport.
import type { Json, JsonObject } from '../kernel/json.ts';
import { objectMembers, skipSpace } from '../lib/json-text.ts';
import type { NoticeFilter, RelayedError, ServerFacts, StatelessEra, StatelessRequest } from './era.ts';
import { encodeNotification, isObject, rpcCode, type RequestId } from './jsonrpc.ts';
import { metaKey, openEnvelope } from './request-envelope.ts';
import { badParams, readCallTool, readListTools } from './tool-requests.ts';

const versions = ['2026-07-28'] as const;

const requests = new Map<string, (params: JsonObject) => StatelessRequest>([
  ['server/discover', () => ({ kind: 'discover' })],
  ['tools/list', readListTools],
  ['tools/call', readEnvelopedCall],
  ['subscriptions/listen', readListen],
]);

/** A list is drawn from memory, and a policy may take from it at any moment: what a client remembers of one is already old. */
const listTtlMs = 0;
/** Changes with the program only. */
const discoverTtlMs = 300_000;

/** `sessionVersions`: the earlier revisions served beside this one, newest first. */
export function createEra2026({ serverInfo, instructions }: ServerFacts, sessionVersions: readonly string[]): StatelessEra {
  const supported = [...versions, ...sessionVersions];
  const meta = `"_meta":${JSON.stringify({ [metaKey.serverInfo]: serverInfo })}`;
  const complete = `"resultType":"complete"`;

  return {
    versions,
    supported,
    requests,
    // -32000 to -32019 is not for new uses, and the rest of the range is the specification's ("Error Codes").
    codes: { refused: rpcCode.internalError, over: rpcCode.internalError },
    results: {
      discovered: `{${complete},"supportedVersions":${JSON.stringify(supported)},"capabilities":{"tools":{"listChanged":true}},${
        instructions === '' ? '' : `"instructions":${JSON.stringify(instructions)},`
      }"ttlMs":${discoverTtlMs},"cacheScope":"private",${meta}}`,
      toolPage: (tools, nextCursor) =>
        `{${complete},"tools":[${tools.join(',')}],${
          nextCursor === undefined ? '' : `"nextCursor":${JSON.stringify(nextCursor)},`
        }"ttlMs":${listTtlMs},"cacheScope":"private",${meta}}`,
      toolText: (text, isError) =>
        `{${complete},"content":[{"type":"text","text":${JSON.stringify(text)}}],${isError ? '"isError":true,' : ''}${meta}}`,
      relayed,
      listened: (subscription) =>
        `{${complete},"_meta":${JSON.stringify({ [metaKey.subscriptionId]: subscription, [metaKey.serverInfo]: serverInfo })}}`,
    },
    relayedError,
    notifications: {
      progress: (progressToken, note) => encodeNotification('notifications/progress', JSON.stringify({ ...note, progressToken })),
      acknowledged: (subscription, { toolsListChanged }) =>
        encodeNotification(
          'notifications/subscriptions/acknowledged',
          `{${tag(subscription)},"notifications":${toolsListChanged ? '{"toolsListChanged":true}' : '{}'}}`,
        ),
      toolsChanged: (subscription) => encodeNotification('notifications/tools/list_changed', `{${tag(subscription)}}`),
    },
  };
}

function tag(subscription: RequestId): string {
  return `"_meta":${JSON.stringify({ [metaKey.subscriptionId]: subscription })}`;
}

/** The envelope is for us; the upstream has one of its own, or a session. */
function readEnvelopedCall(params: JsonObject): StatelessRequest {
  const { client, others } = openEnvelope(isObject(params['_meta']) ? params['_meta'] : {});
  const { _meta: _, ...rest } = params;
  return { ...readCallTool(Object.keys(others).length === 0 ? rest : { ...rest, _meta: others }), client };
}

/** Kinds of notices we have not are left out, as the specification asks; prompts and resources are not served here. */
function readListen({ notifications }: JsonObject): StatelessRequest {
  if (!isObject(notifications)) throw badParams('subscriptions/listen needs "notifications", an object of the kinds to be sent.');
  const { toolsListChanged = false, ...others } = notifications;
  if (typeof toolsListChanged !== 'boolean' || !isFilter(others))
    throw badParams('In "notifications" the list changes are true or false, and "resourceSubscriptions" is a list of URIs.');
  const filter: NoticeFilter = { toolsListChanged };
  return { kind: 'listen', filter };
}

function isFilter({ promptsListChanged, resourcesListChanged, resourceSubscriptions }: JsonObject): boolean {
  return (
    [promptsListChanged, resourcesListChanged].every((wish) => wish === undefined || typeof wish === 'boolean') &&
    (resourceSubscriptions === undefined || isStringList(resourceSubscriptions))
  );
}

function isStringList(value: Json): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** Upstreams of earlier revisions do not say that they are done; every byte of what they say stays. */
function relayed(result: string): string {
  const open = skipSpace(result, 0);
  if (saysResultType(result, open)) return result;
  const rest = skipSpace(result, open + 1);
  return `${result.slice(0, open)}{"resultType":"complete"${result[rest] === '}' ? '' : ','}${result.slice(open + 1)}`;
}

/** Looked for as text first: only one that may have the member, in whatever spelling, is walked over. */
function saysResultType(result: string, open: number): boolean {
  if (!result.includes('resultType') && !result.includes('\\u')) return false;
  return objectMembers(result, open)?.some(({ key }) => key === 'resultType') ?? false;
}

/** Codes of earlier revisions that this one forbids, and what it says instead ("Error Codes"). */
const renamed = new Map([
  // Resource not found.
  [-32002, rpcCode.invalidParams],
  // URL elicitation required: an upstream may not ask it of a gateway that declared no elicitation.
  [-32042, rpcCode.internalError],
]);

/** Only a missing client capability is told by HTTP too: whatever else an upstream refuses is its answer to a request that arrived. */
function relayedError(error: string): RelayedError {
  const span = objectMembers(error)?.findLast(({ key }) => key === 'code');
  const code = span === undefined ? Number.NaN : Number(error.slice(span.start, span.end));
  const instead = renamed.get(code);
  if (span === undefined || instead === undefined) return { error, status: code === rpcCode.missingCapability ? 400 : 200 };
  return { error: `${error.slice(0, span.start)}${instead}${error.slice(span.end)}`, status: 200 };
}
