// The stateless era: 2026-07-28. Registry of the methods an agent may use at our door, and the shapes of our answers (schema
// 2026-07-28). Heads and envelopes are judged before (stateless-head.ts). Knows no session, for there is none, and no transport.
import type { ChangingList, ClientFacts } from '../kernel/dispatch.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { objectMembers, skipSpace } from '../lib/json-text.ts';
import type { NoticeFilter, RelayedError, ServerFacts, StatelessEra, StatelessRequest } from './era.ts';
import { encodeNotification, isObject, rpcCode, type RequestId } from './jsonrpc.ts';
import { metaKey, openEnvelope } from './request-envelope.ts';
import { capabilitiesOf } from './capabilities.ts';
import { listRequests, relayRequests } from './offer-requests.ts';
import { badParams, readCallTool } from './tool-requests.ts';

const versions = ['2026-07-28'] as const;

const requests = new Map<string, (params: JsonObject) => StatelessRequest>([
  ['server/discover', () => ({ kind: 'discover' })],
  ...listRequests,
  ['tools/call', enveloped(readCallTool)],
  ...relayRequests.map(([method, reader]) => [method, enveloped(reader)] as const),
  ['subscriptions/listen', readListen],
]);

/** A list is drawn from memory, and a policy may take from it at any moment: what a client remembers of one is already old. */
const listTtlMs = 0;
/** What there is behind the gateway changes seldom, and nobody is told that it did. */
const discoverTtlMs = 30_000;

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
    codes: {
      refused: rpcCode.internalError,
      over: rpcCode.internalError,
      noResource: rpcCode.invalidParams,
      noMethodStatus: 404,
    },
    results: {
      discovered: (offering) =>
        `{${complete},"supportedVersions":${JSON.stringify(supported)},"capabilities":${JSON.stringify(capabilitiesOf(offering))},${
          instructions === '' ? '' : `"instructions":${JSON.stringify(instructions)},`
        }"ttlMs":${discoverTtlMs},"cacheScope":"private",${meta}}`,
      page: (list, entries, nextCursor) =>
        `{${complete},"${list}":[${entries.join(',')}],${
          nextCursor === undefined ? '' : `"nextCursor":${JSON.stringify(nextCursor)},`
        }"ttlMs":${listTtlMs},"cacheScope":"private",${meta}}`,
      toolText: (text, isError) =>
        `{${complete},"content":[{"type":"text","text":${JSON.stringify(text)}}],${isError ? '"isError":true,' : ''}${meta}}`,
      relayed,
      relayedRead,
      listened: (subscription) =>
        `{${complete},"_meta":${JSON.stringify({ [metaKey.subscriptionId]: subscription, [metaKey.serverInfo]: serverInfo })}}`,
    },
    relayedError,
    notifications: {
      progress: (progressToken, note) => encodeNotification('notifications/progress', JSON.stringify({ ...note, progressToken })),
      acknowledged: (subscription, { lists }) =>
        encodeNotification(
          'notifications/subscriptions/acknowledged',
          `{${tag(subscription)},"notifications":{${lists.map((list) => `"${list}ListChanged":true`).join(',')}}}`,
        ),
      listChanged: (subscription, list) => encodeNotification(`notifications/${list}/list_changed`, `{${tag(subscription)}}`),
    },
  };
}

function tag(subscription: RequestId): string {
  return `"_meta":${JSON.stringify({ [metaKey.subscriptionId]: subscription })}`;
}

/** The envelope is for us; the upstream has one of its own, or a session. */
function enveloped<Request extends object>(reader: (params: JsonObject) => Request) {
  return (params: JsonObject): Request & { readonly client: ClientFacts } => {
    const { client, others } = openEnvelope(isObject(params['_meta']) ? params['_meta'] : {});
    const { _meta: _, ...rest } = params;
    return { ...reader(Object.keys(others).length === 0 ? rest : { ...rest, _meta: others }), client };
  };
}

const changing = ['tools', 'prompts', 'resources'] as const;

/** Kinds of notices we have not are left out, as the specification asks. */
function readListen({ notifications }: JsonObject): StatelessRequest {
  if (!isObject(notifications)) throw badParams('subscriptions/listen needs "notifications", an object of the kinds to be sent.');
  const wished = (list: ChangingList): Json | undefined => notifications[`${list}ListChanged`];
  const { resourceSubscriptions = [] } = notifications;
  if (changing.some((list) => typeof (wished(list) ?? false) !== 'boolean') || !isStringList(resourceSubscriptions))
    throw badParams('In "notifications" the list changes are true or false, and "resourceSubscriptions" is a list of URIs.');
  const filter: NoticeFilter = { lists: changing.filter((list) => wished(list) === true) };
  return { kind: 'listen', filter };
}

function isStringList(value: Json): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** Upstreams of earlier revisions do not say that they are done; every byte of what they say stays. */
function relayed(result: string): string {
  const open = skipSpace(result, 0);
  return saysResultType(result, open) ? result : withMembers(result, open, '"resultType":"complete"');
}

/**
 * What was read for one agent is kept for it alone, whatever the upstream says: policy may refuse it to another, and take it from this
 * one at any moment. Only a result that is the last word is for keeping.
 */
function relayedRead(result: string): string {
  const whole = relayed(result);
  const members = objectMembers(whole) ?? [];
  const textOf = (key: string): string | undefined => {
    const span = members.findLast((member) => member.key === key);
    return span === undefined ? undefined : whole.slice(span.start, span.end);
  };
  if (textOf('resultType') !== '"complete"') return whole;
  const scope = members.findLast(({ key }) => key === 'cacheScope');
  const kept = scope === undefined ? whole : `${whole.slice(0, scope.start)}"private"${whole.slice(scope.end)}`;
  const missing = [
    ...(textOf('ttlMs') === undefined ? [`"ttlMs":${listTtlMs}`] : []),
    ...(scope === undefined ? ['"cacheScope":"private"'] : []),
  ];
  return missing.length === 0 ? kept : withMembers(kept, skipSpace(kept, 0), missing.join(','));
}

/** Put first, so that nothing after them has to be looked at. */
function withMembers(result: string, open: number, members: string): string {
  const rest = skipSpace(result, open + 1);
  return `${result.slice(0, open)}{${members}${result[rest] === '}' ? '' : ','}${result.slice(open + 1)}`;
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

/**
 * A missing client capability is told by HTTP too, and so is a method that neither we nor the upstream know: whatever else an upstream
 * refuses is its answer to a request that arrived.
 */
function relayedError(error: string, vendor: boolean): RelayedError {
  const span = objectMembers(error)?.findLast(({ key }) => key === 'code');
  const code = span === undefined ? Number.NaN : Number(error.slice(span.start, span.end));
  const instead = renamed.get(code);
  if (span === undefined || instead === undefined) {
    if (code === rpcCode.missingCapability) return { error, status: 400 };
    return { error, status: vendor && code === rpcCode.methodNotFound ? 404 : 200 };
  }
  return { error: `${error.slice(0, span.start)}${instead}${error.slice(span.end)}`, status: 200 };
}
