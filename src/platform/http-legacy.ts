// A session of the first HTTP transport (HTTP+SSE, MCP 2024-11-05): one stream brings every answer, and its first event says where to post.
// The session is the stream; when it ends, so does the session. Knows no other dialect and no retry.
import { AppError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { UpstreamConnection, UpstreamEnd, UpstreamRequestOptions } from '../kernel/ports.ts';
import { createPeer } from '../wire/peer.ts';
import { initialize } from '../wire/upstream-2025.ts';
import { readAnswer } from './http-answer.ts';
import { routeOf, type Route } from './http-exchange.ts';
import { broken, cutOff, refused, sessionLost, stopped } from './http-faults.ts';
import { createPosts } from './http-posts.ts';
import { handshakeMs, type HttpDeps, type HttpOpening } from './http-dialect.ts';

/** Rejects with `fleet.protocol` when there is no such stream, and as `initialize` does. */
export async function openHttpLegacy(deps: HttpDeps, opening: HttpOpening): Promise<UpstreamConnection> {
  const { client, route, clock, maxBytes, withLogin } = deps;
  const listeners: ((method: string, params: JsonObject | undefined, text: string | undefined) => void)[] = [];
  const { promise: closed, resolve: end } = Promise.withResolvers<UpstreamEnd>();
  const { promise: endpoint, resolve: found, reject: missing } = Promise.withResolvers<Route>();
  const headers = ['accept', 'application/json', 'content-type', 'application/json', ...deps.headers];
  let target: Route | undefined;
  let gone: AppError | undefined;
  /** Of the request that is being sent right now. */
  let login: UpstreamRequestOptions['login'];

  const peer = createPeer({
    clock,
    host: opening.host,
    send(line, id) {
      if (target !== undefined) posts.send({ route: target, headers: withLogin(headers, login), line, id, repeatable: false });
    },
    onNotification: (...notice) => listeners.forEach((listener) => listener(...notice)),
    onBroken: (error) => finish(error, error.message),
  });
  const posts = createPosts({
    client,
    clock,
    maxBytes,
    receive: (text) => peer.receive(text),
    refused(id, refusal) {
      if (id === undefined) return;
      // The stream is there and the endpoint is the one it named: what is not found can only be the session.
      if (refusal.status === 404) peer.fail(id, finish(sessionLost('HTTP 404'), 'HTTP 404'));
      else peer.fail(id, refused(refusal));
    },
    // The answer comes on the stream; only a post that never arrived ends its request.
    over: (id, { error }) => void (error !== undefined && peer.fail(id, error)),
  });
  const stream = client.start(
    { method: 'GET', route, headers: withLogin(['accept', 'text/event-stream', ...deps.headers]) },
    readAnswer(
      {
        message: (text) => peer.receive(text),
        event(type, data) {
          if (type === 'endpoint' && target === undefined) name(data);
        },
        refused: (refusal) => missing(refused(refusal)),
        done: () => void finish(cutOff(), 'its stream ended'),
        failed: (error) => void finish(error, 'its stream was cut off'),
      },
      maxBytes,
    ),
  );

  function name(path: string): void {
    const url = URL.canParse(path, route.origin) ? new URL(path, `${route.origin}${route.path}`) : undefined;
    // Whoever controls the stream must not be able to send our requests to somebody else.
    if (url?.origin !== route.origin) missing(broken('names an endpoint of another origin'));
    else found((target = routeOf(url.href, route.addresses)));
  }

  /** In flight: what was written may have been done. Later: nothing is sent any more. */
  function finish(error: AppError, why: string): AppError {
    if (gone !== undefined) return gone;
    gone = sessionLost(why);
    missing(error);
    peer.end(error);
    stream.abandon();
    posts.stop();
    end({ code: null, signal: null, stderrTail: '', lost: why });
    return gone;
  }

  async function close(): Promise<void> {
    finish(stopped(), 'it was closed');
    await closed;
  }

  const { signal } = opening;
  const startedAt = clock.monotonic();
  const giveUp = (): void => void finish(new AppError('unavailable', 'fleet.cancelled', 'The start was given up.'), 'given up');
  const stopTimer = clock.after(opening.timeoutMs, () => missing(broken('named no endpoint in time')));
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    await endpoint;
    const timeoutMs = Math.max(1, opening.timeoutMs - (clock.monotonic() - startedAt));
    const handshake = await initialize(peer, deps.info, { signal, timeoutMs, host: opening.host, declares: opening.declares });
    await posts.told(handshakeMs);
    const request: UpstreamConnection['request'] = (method, params, options) => {
      if (gone !== undefined) return Promise.reject(gone);
      login = options.login;
      const asked = peer.request(method, params, options);
      login = undefined;
      return asked;
    };
    return {
      ...handshake,
      perSession: true,
      request,
      subscribe: (uri, options) => request('resources/subscribe', JSON.stringify({ uri }), options),
      unsubscribe: (uri, options) => request('resources/unsubscribe', JSON.stringify({ uri }), options),
      notify: (method, params) => peer.notify(method, params),
      asking: () => peer.asking(),
      onNotification: (listener) => void listeners.push(listener),
      closed,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  } finally {
    stopTimer();
    signal.removeEventListener('abort', giveUp);
  }
}
