// A session of the 2025 revisions over Streamable HTTP: begun by initialize, named by the upstream in a header, and found to be lost by
// asking whether it lives, whatever words the upstream has for that. Knows no other dialect and no retry.
import type { AppError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { UpstreamConnection, UpstreamEnd, UpstreamReply, UpstreamRequestOptions } from '../kernel/ports.ts';
import { readFrame } from '../wire/frame-slice.ts';
import { createPeer } from '../wire/peer.ts';
import { initialize } from '../wire/upstream-2025.ts';
import { broken, refused, sessionLost, stopped, unanswered, type HttpRefusal } from './http-faults.ts';
import { openNotices, type Notices } from './http-notices.ts';
import { createPosts, type PostEnd } from './http-posts.ts';
import { createResumption } from './http-resumption.ts';
import { handshakeMs, harmless, type HttpDeps, type HttpOpening } from './http-dialect.ts';

/** Codes and words that servers use for a session they do not know, and for other things as well: only a ping tells. */
const doubtfulCodes: ReadonlySet<number> = new Set([-32600, -32000, -32001]);
const doubtfulWords = /session|initiali[sz]/i;
const methodNotFound = -32601;
const pingTimeoutMs = 5_000;
const goodbyeMs = 2_000;

/** Of a request on its way out. */
interface Sent {
  id: number | undefined;
  readonly repeatable: boolean;
  readonly quiet: boolean;
  readonly login: UpstreamRequestOptions['login'];
}

/** Rejects as `initialize` does, or with what refused it. */
export async function openHttpSession(deps: HttpDeps, opening: HttpOpening): Promise<UpstreamConnection> {
  const { client, route, clock, maxBytes, withLogin } = deps;
  const base = ['accept', 'application/json, text/event-stream', 'content-type', 'application/json', ...deps.headers];
  const listeners: ((method: string, params: JsonObject | undefined, text: string | undefined) => void)[] = [];
  const asking = new Set<number>();
  const { promise: closed, resolve: end } = Promise.withResolvers<UpstreamEnd>();
  let headers = base;
  let sessionId: string | undefined;
  let initialized = false;
  let gone: AppError | undefined;
  let notices: Notices | undefined;
  let pinging: Promise<boolean> | undefined;
  /** Of the request that is being sent right now. */
  let sending: Sent | undefined;

  const peer = createPeer({
    clock,
    host: opening.host,
    send(line, id) {
      if (id !== undefined && sending !== undefined) sending.id = id;
      if (id !== undefined && sending?.quiet === true) asking.add(id);
      posts.send({ route, headers: withLogin(headers, sending?.login), line, id, repeatable: sending?.repeatable ?? false });
    },
    onNotification: (...notice) => listeners.forEach((listener) => listener(...notice)),
    onBroken: (error) => lose(error.message),
  });
  const receive = (text: string, via?: number): void => peer.receive(text, via);
  const resumption = createResumption({ client, clock, maxBytes, receive, request: (position) => listening(position) });
  const posts = createPosts({
    client,
    clock,
    maxBytes,
    receive,
    accepted(_id, head) {
      if (initialized || sessionId !== undefined) return;
      sessionId = head.header('mcp-session-id');
      // "Session Management": visible ASCII. Anything else could not be sent back.
      if (sessionId !== undefined && !/^[\x21-\x7e]{1,1024}$/.test(sessionId)) {
        sessionId = undefined;
        throw broken('gave its session a name that no header can carry');
      }
    },
    refused: onRefused,
    over: onOver,
  });

  function listening(position: string | undefined) {
    const where = position === undefined ? [] : ['last-event-id', position];
    const lines = withLogin(['accept', 'text/event-stream', ...named(), ...deps.headers, ...where]);
    return { method: 'GET', route, headers: lines } as const;
  }

  function named(): readonly string[] {
    return headers.slice(base.length);
  }

  function lose(why: string): AppError {
    if (gone !== undefined) return gone;
    gone = sessionLost(why);
    notices?.stop();
    peer.forgetAsks();
    end({ code: null, signal: null, stderrTail: '', lost: why });
    return gone;
  }

  function onRefused(id: number | undefined, refusal: HttpRefusal): void {
    if (id === undefined) return;
    const { status } = refusal;
    const answer = (): void => {
      if (isAnswer(refusal.body, id)) peer.receive(refusal.body);
      else peer.fail(id, refused(refusal));
    };
    // Streamable HTTP, "Session Management": this is how a session that ended is told.
    if (status === 404 && sessionId !== undefined) peer.fail(id, lose('HTTP 404'));
    else if (!initialized || asking.has(id) || !mayMeanLost(status)) answer();
    else if (status >= 500) {
      // It may have been done, so this call is over; whether further ones make sense is another question.
      answer();
      void lives().then((alive) => alive || lose(`HTTP ${status}`));
    } else void lives().then((alive) => (alive ? answer() : peer.fail(id, lose(`HTTP ${status}`))));
  }

  function onOver(id: number, { error, position, retryMs }: PostEnd): void {
    if (!peer.waits(id)) return;
    const fail = (): void => peer.fail(id, error ?? unanswered());
    if (position === undefined || gone !== undefined) fail();
    else resumption.resume(id, { position, retryMs, waits: () => peer.waits(id) && gone === undefined, fail });
  }

  /** Coalesced: one ping answers for all who doubt. */
  function lives(): Promise<boolean> {
    const options = { signal: new AbortController().signal, timeoutMs: pingTimeoutMs };
    pinging ??= ask('ping', undefined, options, true)
      .then(
        (reply) => reply.kind === 'result' || reply.code === methodNotFound,
        // A network that fails or a server that is busy says nothing about the session.
        ({ code, data }: AppError) =>
          code !== 'fleet.session_lost' && (data?.['status'] === undefined || busy.has(data['status'] as number)),
      )
      .finally(() => {
        pinging = undefined;
      });
    return pinging;
  }

  async function ask(
    method: string,
    params: string | undefined,
    options: UpstreamRequestOptions,
    quiet = false,
  ): Promise<UpstreamReply> {
    const sent: Sent = { id: undefined, repeatable: harmless.has(method), quiet, login: options.login };
    sending = sent;
    const asked = peer.request(method, params, options);
    sending = undefined;
    let answered = false;
    try {
      const reply = await asked;
      answered = true;
      return reply;
    } finally {
      if (sent.id !== undefined) {
        posts.settled(sent.id, answered);
        resumption.settled(sent.id);
        asking.delete(sent.id);
      }
    }
  }

  async function request(method: string, params: string | undefined, options: UpstreamRequestOptions): Promise<UpstreamReply> {
    if (gone !== undefined) throw gone;
    const reply = await ask(method, params, options);
    if (reply.kind === 'error' && doubtful(reply) && !(await lives())) throw lose(`error ${reply.code}`);
    return reply;
  }

  function goodbye(graceMs: number): Promise<void> {
    if (sessionId === undefined || gone !== undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = (): void => {
        stopTimer();
        resolve();
      };
      const reader = { head: () => undefined, data: () => undefined, end: settle, fail: settle };
      const bye = client.start({ method: 'DELETE', route, headers: withLogin([...named(), ...deps.headers]) }, reader);
      const stopTimer = clock.after(Math.min(goodbyeMs, graceMs), () => {
        bye.abandon();
        resolve();
      });
    });
  }

  async function close(graceMs: number): Promise<void> {
    notices?.stop();
    peer.end(stopped());
    posts.stop();
    await goodbye(graceMs);
    gone ??= stopped();
    end({ code: null, signal: null, stderrTail: '' });
  }

  try {
    const handshake = await initialize({ ...peer, request: (method, params, options) => ask(method, params, options) }, deps.info, {
      ...opening,
      agreed(protocolVersion) {
        initialized = true;
        headers = [
          ...base,
          'mcp-protocol-version',
          protocolVersion,
          ...(sessionId === undefined ? [] : ['mcp-session-id', sessionId]),
        ];
      },
    });
    await posts.told(handshakeMs);
    if (opening.listens) {
      notices = openNotices({
        client,
        clock,
        maxBytes,
        request: listening,
        receive: (text) => peer.receive(text),
        refused({ status }, worked) {
          if (worked && (status === 404 || status === 400)) lose(`HTTP ${status}`);
          // Of a login that is over the next one may be there by then.
          return worked && (status >= 500 || status === 401);
        },
        unreachable: ({ message }) => void lose(message),
      });
    }
    const perSession = sessionId !== undefined;
    return {
      ...handshake,
      perSession,
      request,
      subscribe: (uri, options) => request('resources/subscribe', JSON.stringify({ uri }), options),
      unsubscribe: (uri, options) => request('resources/unsubscribe', JSON.stringify({ uri }), options),
      notify: (method, params) => void (gone === undefined && peer.notify(method, params)),
      asking: () => peer.asking(),
      onNotification: (listener) => void listeners.push(listener),
      closed,
      close,
    };
  } catch (error) {
    await close(goodbyeMs);
    throw error;
  }
}

function isAnswer(body: string, id: number): boolean {
  const frame = readFrame(body);
  return frame?.kind === 'error' && frame.id === id;
}

function doubtful({ code, json }: Extract<UpstreamReply, { kind: 'error' }>): boolean {
  return doubtfulCodes.has(code) || doubtfulWords.test(json);
}

/** These speak of something else. */
const busy: ReadonlySet<number> = new Set([401, 403, 408, 413, 429, 503]);

function mayMeanLost(status: number): boolean {
  return status >= 400 && !busy.has(status);
}
