// An upstream of 2026-07-28: requests that stand for themselves, and a subscription for what changes. There is nothing to lose and nothing
// to end but connections. Knows no other dialect and no retry.
import type { AppError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { UpstreamConnection, UpstreamEnd, UpstreamReply, UpstreamRequestOptions } from '../kernel/ports.ts';
import { readFrame } from '../wire/frame-slice.ts';
import { encodeRequest } from '../wire/jsonrpc.ts';
import { createPeer } from '../wire/peer.ts';
import { assertFinal, createModernWriter, invitesRetry, modernVersion, readDiscovery } from '../wire/upstream-2026.ts';
import { refused, stopped, unanswered, type HttpRefusal } from './http-faults.ts';
import { openNotices, type Notices } from './http-notices.ts';
import { createPosts } from './http-posts.ts';
import { harmless, type HttpDeps, type HttpOpening } from './http-dialect.ts';

/** Notices that concern everybody: what there is changed. */
const followed = JSON.stringify({
  notifications: { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true },
});

const noSubscriptions: UpstreamReply = {
  kind: 'error',
  code: -32601,
  json: '{"code":-32601,"message":"Updates of single resources are not followed over this revision yet."}',
};

/** `undefined` when the upstream answers, but not as one of this revision. Rejects with what else went wrong. */
export async function openHttpStateless(deps: HttpDeps, opening: HttpOpening): Promise<UpstreamConnection | undefined> {
  const { client, route, clock, maxBytes } = deps;
  const writer = createModernWriter(deps.info);
  const kinds = ['accept', 'application/json, text/event-stream', 'content-type', 'application/json'];
  const base = [...kinds, 'mcp-protocol-version', modernVersion, ...deps.headers];
  const listeners: ((method: string, params: JsonObject | undefined, text: string | undefined) => void)[] = [];
  const { promise: closed, resolve: end } = Promise.withResolvers<UpstreamEnd>();
  let notices: Notices | undefined;
  let sending: { id: number | undefined; readonly headers: readonly string[]; readonly repeatable: boolean } | undefined;

  const peer = createPeer({
    clock,
    send(line, id) {
      // Nothing but requests is sent in this revision; closing the exchange is how one is cancelled.
      if (id === undefined || sending === undefined) return;
      sending.id = id;
      posts.send({ route, line, id, headers: sending.headers, repeatable: sending.repeatable });
    },
    onNotification: (...notice) => listeners.forEach((listener) => listener(...notice)),
    onBroken: fail,
  });
  const posts = createPosts({
    client,
    clock,
    maxBytes,
    receive: (text) => peer.receive(text),
    refused(id, refusal) {
      if (id === undefined) return;
      if (mayAnswer(refusal, id)) peer.receive(refusal.body);
      else peer.fail(id, refused(refusal));
    },
    over: (id, { error }) => peer.fail(id, error ?? unanswered()),
  });

  function fail(error: AppError): void {
    notices?.stop();
    peer.end(error);
    posts.stop();
    end({ code: null, signal: null, stderrTail: '', lost: error.message });
  }

  async function ask(method: string, params: string | undefined, options: UpstreamRequestOptions): Promise<UpstreamReply> {
    const headers = [...base, ...writer.headers(method, options.subject)];
    const sent: NonNullable<typeof sending> = { id: undefined, headers, repeatable: harmless.has(method) };
    sending = sent;
    const asked = peer.request(method, writer.params(params, options.client), options);
    sending = undefined;
    let answered = false;
    try {
      const reply = await asked;
      answered = true;
      assertFinal(reply, options.client);
      return reply;
    } finally {
      if (sent.id !== undefined) posts.settled(sent.id, answered);
    }
  }

  async function close(): Promise<void> {
    notices?.stop();
    peer.end(stopped());
    posts.stop();
    end({ code: null, signal: null, stderrTail: '' });
    await closed;
  }

  /** Progress comes with the request it belongs to, not here. */
  function listen(): Notices {
    const params = writer.params(followed, undefined);
    const body = encodeRequest('listen', 'subscriptions/listen', params);
    const headers = [...base, ...writer.headers('subscriptions/listen', undefined)];
    return openNotices({
      client,
      clock,
      maxBytes,
      request: () => ({ method: 'POST', route, headers, body }),
      receive: (text) => peer.receive(text),
      refused: ({ status }, worked) => worked && status >= 500,
      unreachable: fail,
    });
  }

  try {
    const first = await ask('server/discover', undefined, opening);
    const discovery = readDiscovery(invitesRetry(first) ? await ask('server/discover', undefined, opening) : first);
    if (discovery === undefined) {
      await close();
      return undefined;
    }
    if (opening.listens && listChanges(discovery.capabilities)) notices = listen();
    return {
      ...discovery,
      perSession: false,
      request: ask,
      subscribe: () => Promise.resolve(noSubscriptions),
      unsubscribe: () => Promise.resolve(noSubscriptions),
      notify: () => undefined,
      onNotification: (listener) => void listeners.push(listener),
      closed,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function listChanges({ tools }: JsonObject): boolean {
  return typeof tools === 'object' && tools !== null && !Array.isArray(tools) && (tools as JsonObject)['listChanged'] === true;
}

/** This revision tells errors of the protocol by HTTP as well. */
function mayAnswer({ status, body }: HttpRefusal, id: number): boolean {
  if (status === 401 || status === 403) return false;
  const frame = readFrame(body);
  return frame?.kind === 'error' && frame.id === id;
}
