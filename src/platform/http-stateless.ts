// An upstream of 2026-07-28: requests that stand for themselves, and a subscription for what changes. There is nothing to lose and nothing
// to end but connections. Knows no other dialect and no retry.
import type { AppError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { UpstreamConnection, UpstreamEnd, UpstreamReply, UpstreamRequestOptions } from '../kernel/ports.ts';
import { readFrame } from '../wire/frame-slice.ts';
import { encodeRequest } from '../wire/jsonrpc.ts';
import { createPeer } from '../wire/peer.ts';
import { metaKey } from '../wire/request-envelope.ts';
import { withoutMeta } from '../wire/request-meta.ts';
import { assertFinal, createModernWriter, invitesRetry, modernVersion, readDiscovery } from '../wire/upstream-2026.ts';
import { broken, refused, stopped, unanswered, type HttpRefusal } from './http-faults.ts';
import { openNotices } from './http-notices.ts';
import { createPosts } from './http-posts.ts';
import { createSubscription, type SubscriptionStream } from './subscription.ts';
import { harmless, type HttpDeps, type HttpOpening } from './http-dialect.ts';

const acknowledged = 'notifications/subscriptions/acknowledged';
const updated = 'notifications/resources/updated';

/** `undefined` when the upstream answers, but not as one of this revision. Rejects with what else went wrong. */
export async function openHttpStateless(deps: HttpDeps, opening: HttpOpening): Promise<UpstreamConnection | undefined> {
  const { client, route, clock, maxBytes, withLogin } = deps;
  const writer = createModernWriter(deps.info);
  const kinds = ['accept', 'application/json, text/event-stream', 'content-type', 'application/json'];
  const base = [...kinds, 'mcp-protocol-version', modernVersion, ...deps.headers];
  const listeners: ((method: string, params: JsonObject | undefined, text: string | undefined) => void)[] = [];
  const { promise: closed, resolve: end } = Promise.withResolvers<UpstreamEnd>();
  let streams = 0;
  let sending: { id: number | undefined; readonly headers: readonly string[]; readonly repeatable: boolean } | undefined;

  const peer = createPeer({
    clock,
    send(line, id) {
      // Nothing but requests is sent in this revision; closing the exchange is how one is cancelled.
      if (id === undefined || sending === undefined) return;
      sending.id = id;
      posts.send({ route, line, id, headers: sending.headers, repeatable: sending.repeatable });
    },
    onNotification(method, params, text) {
      // The subscription is a matter of this hop.
      const own = text === undefined ? undefined : withoutMeta(text, metaKey.subscriptionId);
      for (const listener of listeners) listener(method, params, own);
    },
    onBroken: fail,
  });
  const posts = createPosts({
    client,
    clock,
    maxBytes,
    receive: (text, via) => peer.receive(text, via),
    refused(id, refusal) {
      if (id === undefined) return;
      if (mayAnswer(refusal, id)) peer.receive(refusal.body);
      else peer.fail(id, refused(refusal));
    },
    over: (id, { error }) => peer.fail(id, error ?? unanswered()),
  });

  const subscription = createSubscription({
    clock,
    open: listen,
    missed: (uri) => listeners.forEach((listener) => listener(updated, { uri }, JSON.stringify({ uri }))),
  });

  function fail(error: AppError): void {
    subscription.stop();
    peer.end(error);
    posts.stop();
    end({ code: null, signal: null, stderrTail: '', lost: error.message });
  }

  async function ask(method: string, params: string | undefined, options: UpstreamRequestOptions): Promise<UpstreamReply> {
    const headers = withLogin([...base, ...writer.headers(method, options.subject)], options.login);
    const sent: NonNullable<typeof sending> = { id: undefined, headers, repeatable: harmless.has(method) };
    sending = sent;
    const asked = peer.request(method, writer.requestParams(params, options), options);
    sending = undefined;
    let answered = false;
    try {
      const reply = await asked;
      answered = true;
      assertFinal(reply, options);
      return reply;
    } finally {
      if (sent.id !== undefined) posts.settled(sent.id, answered);
    }
  }

  async function close(): Promise<void> {
    subscription.stop();
    peer.end(stopped());
    posts.stop();
    end({ code: null, signal: null, stderrTail: '' });
    await closed;
  }

  /** Progress and log messages come with the request they belong to, not here. */
  function listen(params: string, stream: SubscriptionStream): () => void {
    const id = `listen-${(streams += 1)}`;
    const body = encodeRequest(id, 'subscriptions/listen', writer.params(params, undefined));
    const headers = [...base, ...writer.headers('subscriptions/listen', undefined)];
    const notices = openNotices({
      client,
      clock,
      maxBytes,
      request: () => ({ method: 'POST', route, headers: withLogin(headers), body }),
      receive(text) {
        const frame = readFrame(text);
        if (frame?.kind === 'notification' && frame.method === acknowledged) stream.acknowledged(frame.params);
        else if (frame?.kind === 'error' && frame.id === id) stream.ended(broken('refused to tell of changes'));
        else peer.receive(text);
      },
      refused(refusal, worked) {
        const again = worked && (refusal.status >= 500 || refusal.status === 401);
        if (!again) stream.ended(refused(refusal));
        return again;
      },
      unreachable: fail,
    });
    return () => notices.stop();
  }

  try {
    const { signal, timeoutMs } = opening;
    const discover = (): Promise<UpstreamReply> => ask('server/discover', undefined, { signal, timeoutMs });
    const first = await discover();
    const discovery = readDiscovery(invitesRetry(first) ? await discover() : first);
    if (discovery === undefined) {
      await close();
      return undefined;
    }
    if (opening.listens && listChanges(discovery.capabilities)) subscription.listen();
    return {
      ...discovery,
      perSession: false,
      request: ask,
      subscribe: (uri, options) => subscription.add(uri, options),
      unsubscribe: (uri) => subscription.remove(uri),
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
