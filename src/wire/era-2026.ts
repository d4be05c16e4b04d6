// The stateless era: 2026-07-28. Registry of the methods an agent may use at our door, and the shapes of our answers (schema
// 2026-07-28). Heads and envelopes are judged before (stateless-head.ts). Knows no session, for there is none, and no transport.
import type { ChangingList, ClientFacts, Offering } from '../kernel/dispatch.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { objectMembers, skipSpace } from '../lib/json-text.ts';
import type { NoticeFilter, RelayedError, ServerFacts, StatelessEra, StatelessRequest } from './era.ts';
import { inputRequestsText, readResumption, type Resumption } from './input-required.ts';
import { encodeNotification, isObject, rpcCode, type RequestId } from './jsonrpc.ts';
import { metaKey, openEnvelope } from './request-envelope.ts';
import { withMeta } from './request-meta.ts';
import { capabilitiesOf } from './capabilities.ts';
import { listRequests, relayRequests } from './offer-requests.ts';
import { extensionTaskRequests, requireTaskExtension, taskExtension } from './task-requests.ts';
import { badParams, readCallTool } from './tool-requests.ts';
import { readVendorRequest } from './vendor-methods.ts';

const versions = ['2026-07-28'] as const;

const requests = new Map<string, (params: JsonObject) => StatelessRequest>([
  ['server/discover', () => ({ kind: 'discover' })],
  ...listRequests,
  ['tools/call', resumable(readCallTool)],
  ...relayRequests.map(
    ([method, reader]) => [method, method === 'completion/complete' ? enveloped(reader) : resumable(reader)] as const,
  ),
  ...extensionTaskRequests.map(([method, reader]) => [method, forTaskClients(enveloped(reader))] as const),
  ['subscriptions/listen', readListen],
]);

/** A list is drawn from memory, and a policy may take from it at any moment: what a client remembers of one is already old. */
const listTtlMs = 0;
/** What there is behind the gateway changes seldom, and nobody is told that it did. */
const discoverTtlMs = 30_000;

/** `sessionVersions`: the earlier revisions served beside this one, newest first. */
export function createEra2026(gateway: ServerFacts, sessionVersions: readonly string[]): StatelessEra {
  const { serverInfo } = gateway;
  const supported = [...versions, ...sessionVersions];
  const meta = `"_meta":${JSON.stringify({ [metaKey.serverInfo]: serverInfo })}`;
  const complete = `"resultType":"complete"`;

  return {
    versions,
    supported,
    requests,
    vendorRequest: (method, params) => enveloped((others) => readVendorRequest(method, others))(params),
    // -32000 to -32019 is not for new uses, and the rest of the range is the specification's ("Error Codes").
    codes: {
      refused: rpcCode.internalError,
      over: rpcCode.internalError,
      noResource: rpcCode.invalidParams,
      noMethodStatus: 404,
    },
    results: {
      discovered(offering) {
        // At its own endpoint an upstream is introduced by what it said of itself.
        const { serverInfo: info, instructions: words = '' } = offering.upstream ?? gateway;
        return `{${complete},"supportedVersions":${JSON.stringify(supported)},"capabilities":${JSON.stringify(declared(offering))},${
          words === '' ? '' : `"instructions":${JSON.stringify(words)},`
        }"ttlMs":${discoverTtlMs},"cacheScope":"private","_meta":${JSON.stringify({ [metaKey.serverInfo]: info })}}`;
      },
      page: (list, entries, nextCursor) =>
        `{${complete},"${list}":[${entries.join(',')}],${
          nextCursor === undefined ? '' : `"nextCursor":${JSON.stringify(nextCursor)},`
        }"ttlMs":${listTtlMs},"cacheScope":"private",${meta}}`,
      toolText: (text, isError) =>
        `{${complete},"content":[{"type":"text","text":${JSON.stringify(text)}}],${isError ? '"isError":true,' : ''}${meta}}`,
      relayed,
      relayedRead,
      inputRequired: (wanted, state) =>
        `{"resultType":"input_required","inputRequests":${inputRequestsText(wanted)},"requestState":${JSON.stringify(state)},${meta}}`,
      listened: (subscription) =>
        `{${complete},"_meta":${JSON.stringify({ [metaKey.subscriptionId]: subscription, [metaKey.serverInfo]: serverInfo })}}`,
    },
    relayedError,
    notifications: {
      progress: (progressToken, note) => encodeNotification('notifications/progress', JSON.stringify({ ...note, progressToken })),
      acknowledged: (subscription, filter) =>
        encodeNotification(
          'notifications/subscriptions/acknowledged',
          `{"_meta":{${tag(subscription)}},"notifications":${JSON.stringify(honoured(filter))}}`,
        ),
      listChanged: (subscription, list) =>
        encodeNotification(`notifications/${list}/list_changed`, `{"_meta":{${tag(subscription)}}}`),
      resourceUpdated: (subscription, params) =>
        encodeNotification('notifications/resources/updated', withMeta(params, tag(subscription))),
    },
  };
}

/** A member of `_meta`. */
function tag(subscription: RequestId): string {
  return `${JSON.stringify(metaKey.subscriptionId)}:${JSON.stringify(subscription)}`;
}

/** Only what the client gets is named. */
function honoured({ lists, resources }: NoticeFilter): JsonObject {
  return {
    ...Object.fromEntries(lists.map((list) => [`${list}ListChanged`, true])),
    ...(resources.length === 0 ? {} : { resourceSubscriptions: resources }),
  };
}

/** The envelope is for us; the upstream has one of its own, or a session. */
function enveloped<Request extends object>(reader: (params: JsonObject) => Request) {
  return (params: JsonObject): Request & { readonly client: ClientFacts } => {
    const { client, others } = openEnvelope(isObject(params['_meta']) ? params['_meta'] : {});
    const { _meta: _, ...rest } = params;
    return { ...reader(Object.keys(others).length === 0 ? rest : { ...rest, _meta: others }), client };
  };
}

/** The requests that may be answered with a question, and then come again with what was asked for. */
function resumable<Request extends object>(reader: (params: JsonObject) => Request) {
  const read = enveloped(reader);
  return (params: JsonObject): Request & { readonly client: ClientFacts; readonly resumption?: Resumption } => {
    const resumption = readResumption(params);
    const request = read(params);
    return resumption === undefined ? request : { ...request, resumption };
  };
}

/** URIs of one subscription. */
const maxResources = 256;
function forTaskClients(reader: (params: JsonObject) => Extract<StatelessRequest, { kind: 'relay' }>): typeof reader {
  return (params) => {
    const request = reader(params);
    requireTaskExtension(request.client?.capabilities ?? {});
    return request;
  };
}

function declared(offering: Offering): JsonObject {
  const capabilities = capabilitiesOf(offering);
  const { extensionTasks } = offering;
  if (extensionTasks === undefined) return capabilities;
  const { extensions } = capabilities;
  return { ...capabilities, extensions: { ...(isObject(extensions) ? extensions : {}), [taskExtension]: extensionTasks } };
}

const changing = ['tools', 'prompts', 'resources'] as const;

function readListen({ notifications }: JsonObject): StatelessRequest {
  if (!isObject(notifications)) throw badParams('subscriptions/listen needs "notifications", an object of the kinds to be sent.');
  const wished = (list: ChangingList): Json | undefined => notifications[`${list}ListChanged`];
  const { resourceSubscriptions = [] } = notifications;
  if (changing.some((list) => typeof (wished(list) ?? false) !== 'boolean') || !isStringList(resourceSubscriptions))
    throw badParams('In "notifications" the list changes are true or false, and "resourceSubscriptions" is a list of URIs.');
  const resources = [...new Set(resourceSubscriptions)];
  if (resources.length > maxResources)
    throw badParams(`One subscription is to ${maxResources} resources at most. Open a further one for the others.`);
  return { kind: 'listen', filter: { lists: changing.filter((list) => wished(list) === true), resources } };
}

function isStringList(value: Json): value is readonly string[] {
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
