// The MCP server an agent sees: sessions, the methods of their era, list changes and the end of it all; what has no session is beside it
// (stateless.ts). Every call goes to the gateway; nothing is decided here. Knows no HTTP: requests come as messages, answers leave
// through slots and streams.
import type { AgentState } from '../../features/agents/model.ts';
import type { ChangingList, Dispatch, ToolScope } from '../../kernel/dispatch.ts';
import type { Clock, Entropy, Log, Unsubscribe } from '../../kernel/ports.ts';
import type { HandshakeRequest, ServerFacts } from '../../wire/era.ts';
import { era2025 } from '../../wire/era-2025.ts';
import { createEra2026 } from '../../wire/era-2026.ts';
import { encodeError, encodeResult, rpcCode, type Message, type RequestId } from '../../wire/jsonrpc.ts';
import { isVendorMethod, readVendorRequest } from '../../wire/vendor-methods.ts';
import { createCalls, type CallRequest } from './calls.ts';
import { createClientRequests } from './client-requests.ts';
import type { NoticeStream, ReplySlot } from './in-flight.ts';
import { answerList, faultOf } from './list-answer.ts';
import { hangUp, listenOn, tellSession } from './session-messages.ts';
import { createSessions, follows, type Session, type SessionLimits } from './sessions.ts';
import { createStateless, type StatelessServer } from './stateless.ts';

/** What the doors need of the agents slice. */
export interface AgentDirectory {
  authenticate(token: string): { readonly name: string; readonly state: AgentState } | undefined;
  onEnded(listener: (name: string) => void): Unsubscribe;
}

export interface McpEndpointDeps extends ServerFacts {
  readonly dispatch: Dispatch;
  readonly agents: Pick<AgentDirectory, 'onEnded'>;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  /** Defaults: 128 per agent, 2,048 in total, idle for 8 hours without a call or an open stream. */
  readonly sessionLimits?: SessionLimits;
  /** Default 256 per session, and per agent without one. */
  readonly maxCallsInFlight?: number;
  /** Default 64 per agent. */
  readonly maxSubscriptions?: number;
}

type Incoming<Kind extends Message['kind']> = Extract<Message, { kind: Kind }>;

/** An answer to `initialize`: the session is absent when none was opened, and `message` says why. */
export interface Opening {
  readonly session: Session | undefined;
  readonly message: string;
}

export interface McpEndpoint {
  /** Protocol versions spoken in sessions, newest first. */
  readonly versions: readonly string[];
  readonly stateless: StatelessServer;
  initialize(agent: string, scope: ToolScope, request: Incoming<'request'>): Opening;
  /** Only its own agent finds a session, and only at its own endpoint. */
  find(id: string, agent: string, scope: ToolScope): Session | undefined;
  request(session: Session, request: Incoming<'request'>, slot: ReplySlot): void;
  notify(session: Session, notification: Incoming<'notification'>): void;
  /** `text` is the whole message. What answers nothing that was asked is dropped. */
  answered(session: Session, response: Incoming<'response'>, text: string): void;
  /** A message that was refused: if it was an answer, whoever asked is told `why`. */
  spoiled(session: Session, text: string, why: string): void;
  /** The client is gone, and with it whoever would read the answer: the call is cancelled like one taken back. */
  dropped(session: Session, id: RequestId, slot: ReplySlot): void;
  /** Takes the place of the stream the session had. */
  listen(session: Session, stream: NoticeStream): void;
  unlisten(session: Session, stream: NoticeStream): void;
  end(session: Session): void;
  /** Open sessions. */
  size(): number;
  /** Ends streams at once, lets calls finish for `graceMs`, then ends everything. No further session is opened. */
  close(graceMs: number): Promise<void>;
}

const defaultLimits: SessionLimits = { perAgent: 128, total: 2_048, idleMs: 8 * 60 * 60 * 1_000 };
/** Proxies and NAT boxes forget quiet connections after 30 to 60 seconds. */
const tickMs = 25_000;
/** A burst of changes (upstreams starting one after another) is one notice. */
const settleMs = 50;
const era = era2025;

const sessionOver =
  'The session is over: the agent was suspended, revoked or its token replaced, the client ended it, or the gateway stops.';
const agentOver = 'The agent was suspended or revoked, or its token was replaced.';
const stopping = 'The gateway is stopping. Try again when it is back.';
const allBusy = 'All sessions of this agent have calls in flight. Wait for some of them, or end them.';

export function createMcpEndpoint(deps: McpEndpointDeps): McpEndpoint {
  const { dispatch, agents, clock, entropy, log, maxCallsInFlight = 256, maxSubscriptions = 64 } = deps;
  const calls = createCalls({ dispatch, log, maxPerHome: maxCallsInFlight });
  const era2026 = createEra2026(deps, era.versions);
  const stateless = createStateless({ era: era2026, dispatch, calls, clock, entropy, log, maxSubscriptions, awake: startTicking });
  const asks = createClientRequests(deps);
  const sessions = createSessions({
    clock,
    entropy,
    limits: deps.sessionLimits ?? defaultLimits,
    offering: (caller, scope) => dispatch.offering(caller, scope),
    hostOf: (session, claims) => asks.hostOf(session, claims),
    onEnd: ended,
  });
  const subscriptions = [agents.onEnded(endAgent), dispatch.onListChanged(listChanged)];
  let closing = false;
  let stopTick: Unsubscribe | undefined;
  let stopSettling: Unsubscribe | undefined;
  const changing = new Set<ChangingList>();

  function ended(session: Session): void {
    asks.end(session);
    hangUp(session);
    calls.failAll(session, sessionOver);
    dispatch.sessionEnded(session.caller.session);
    if (anybodyThere()) return;
    stopTick?.();
    stopTick = undefined;
  }

  function endAgent(name: string): void {
    sessions.endAgent(name);
    stateless.endAgent(name, agentOver);
  }

  function anybodyThere(): boolean {
    return sessions.size() > 0 || stateless.streaming();
  }

  function startTicking(): void {
    stopTick ??= clock.after(tickMs, tick);
  }

  function tick(): void {
    sessions.endIdle();
    for (const { stream, calls: inFlight } of sessions.all()) {
      stream?.keepAlive();
      for (const { slot } of inFlight.values()) slot.keepAlive();
    }
    stateless.keepAlive();
    stopTick = anybodyThere() ? clock.after(tickMs, tick) : undefined;
  }

  function listChanged(list: ChangingList): void {
    changing.add(list);
    stopSettling ??= clock.after(settleMs, () => {
      stopSettling = undefined;
      for (const changed of changing) tell(changed);
      changing.clear();
    });
  }

  function tell(list: ChangingList): void {
    for (const session of sessions.all()) {
      if (follows(session, list)) tellSession(session, session.era.notifications.listChanged(list));
    }
    stateless.listChanged(list);
  }

  /** The text of the error that answers the request where it cannot be read. */
  function read({ id, method, params }: Incoming<'request'>, scope: ToolScope): HandshakeRequest | string {
    const reader = era.requests.get(method);
    const vendor = reader === undefined && scope.kind === 'upstream' && isVendorMethod(method);
    if (reader === undefined && !vendor)
      return encodeError(id, rpcCode.methodNotFound, `There is no method '${method.slice(0, 128)}' here.`);
    try {
      return reader === undefined ? readVendorRequest(method, params ?? {}) : reader(params ?? {});
    } catch (thrown) {
      const { code, message } = faultOf(thrown, log);
      return encodeError(id, code, message);
    }
  }

  function start(session: Session, id: RequestId, request: CallRequest, slot: ReplySlot): void {
    if (closing) slot.answer(encodeError(id, rpcCode.serverError, stopping));
    else calls.start(session, id, id, request, slot);
    // Its stream may be the one that something waits for.
    if (session.asks.size > 0) asks.flush(session);
  }

  return {
    versions: era.versions,
    stateless,
    initialize(agent, scope, request) {
      const asked = read(request, scope);
      if (typeof asked === 'string') return { session: undefined, message: asked };
      if (asked.kind !== 'initialize') throw new TypeError('only initialize opens a session');
      const version = era.negotiate(asked.version);
      const session = closing ? undefined : sessions.open(agent, scope, { era, version, client: asked.client });
      if (session === undefined) {
        return { session, message: encodeError(request.id, rpcCode.serverError, closing ? stopping : allBusy) };
      }
      startTicking();
      return { session, message: encodeResult(request.id, era.results.initialized(version, deps, session.offering)) };
    },
    find: (id, agent, scope) => sessions.find(id, agent, scope),
    request(session, request, slot) {
      const { id } = request;
      const asked = read(request, session.scope);
      if (typeof asked === 'string') {
        slot.answer(asked);
        return;
      }
      switch (asked.kind) {
        case 'call_tool':
        case 'relay':
          start(session, id, asked, slot);
          return;
        case 'follow':
          start(session, id, { kind: 'follow', uri: asked.uri, host: session.host }, slot);
          return;
        case 'unfollow':
          dispatch.unfollow(session.caller, { scope: session.scope, uri: asked.uri, host: session.host });
          slot.answer(encodeResult(id, era.results.empty));
          return;
        case 'set_log_level':
          dispatch.setLogLevel(session.caller, asked.level);
          slot.answer(encodeResult(id, era.results.empty));
          return;
        case 'list':
          slot.answer(answerList(session, id, asked, deps));
          return;
        case 'ping':
          slot.answer(encodeResult(id, era.results.empty));
          return;
        case 'initialize':
          slot.answer(encodeError(id, rpcCode.invalidRequest, 'This session is initialized already.'));
      }
    },
    notify(session, { method, params }) {
      const notice = era.notices.get(method)?.(params ?? {});
      if (notice?.kind === 'roots_changed') dispatch.rootsChanged(session.caller);
      else if (notice?.kind === 'progress' && notice.token !== undefined) asks.progressed(session, notice.token, notice.note);
      else if (notice?.kind === 'cancelled' && notice.requestId !== undefined) {
        calls.cancel(session, notice.requestId);
        asks.givenUp(session, notice.requestId);
      }
    },
    answered: (session, { id }, text) => asks.answered(session, id, text),
    spoiled: (session, text, why) => asks.spoiled(session, text, why),
    dropped(session, id, slot) {
      // The id may be in use again by the time a connection is known to be gone.
      if (session.calls.get(id)?.slot === slot) calls.cancel(session, id);
    },
    listen(session, stream) {
      listenOn(session, stream);
      asks.flush(session);
    },
    unlisten(session, stream) {
      if (session.stream === stream) session.stream = undefined;
    },
    end: (session) => sessions.end(session),
    size: () => sessions.size(),
    async close(graceMs) {
      closing = true;
      for (const stop of subscriptions.splice(0)) stop();
      stopSettling?.();
      for (const session of sessions.all()) hangUp(session);
      stateless.stop(stopping);
      const { promise: graceOver, resolve } = Promise.withResolvers<void>();
      const stopWaiting = clock.after(graceMs, resolve);
      await Promise.race([calls.idle(), graceOver]);
      stopWaiting();
      for (const session of sessions.all()) sessions.end(session);
      stateless.endAll(stopping);
    },
  };
}
