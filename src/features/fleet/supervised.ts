// One upstream as callers meet it: which of its connections a request goes to (the one for everybody, or one of the agent session's own),
// and what its sessions want to be told. Knows instants and no transport.
import { asAppError, AppError } from '../../kernel/errors.ts';
import type { LogLevel } from '../../kernel/dispatch.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { UpstreamClient, UpstreamConnection, UpstreamOpening, UpstreamReply } from '../../kernel/ports.ts';
import type { AuthHealth } from '../auth/auth.ts';
import { admitted, counts, type Desk, type SupervisedCall } from './admitted.ts';
import { createAgentSessions } from './agent-sessions.ts';
import { createFollowing } from './following.ts';
import { createMainSession, type MainSession, type MainSessionDeps } from './main-session.ts';
import { circuitOf, mayStart } from './member.ts';
import type { CircuitView, MemberState, Party, ResourceUpdate, Sharing, TaskNotice } from './model.ts';
import { createOwnSessions } from './own-sessions.ts';
import type { Login } from './login.ts';
import { createMemberLogin } from './member-login.ts';
import { down, loginNeeded, named, waitingForSecrets } from './refusals.ts';
import { createReopening } from './reopening.ts';
import { createSoleHost, type SoleHost } from './sole-host.ts';
import { within, type Patience } from './within.ts';
import type { Circle } from './wishes.ts';

export type { SupervisedCall } from './admitted.ts';

const pingTimeoutMs = 5_000;
/** The revision whose requests say themselves which log messages they want. */
const levelInRequests = '2026-07-28';

export interface SupervisedDeps extends MainSessionDeps {
  readonly sharing: Sharing;
  /** How many agent sessions (agents) may have an upstream session of their own. */
  readonly maxSessions: number;
  readonly idleStopMs: number;
  /** What the upstream is told on the connection for the list that clients could be asked; absent where none ever can. */
  readonly declares?: JsonObject;
  /** Where it is logged in to; connections are then opened by this. */
  readonly login?: Login;
  /** A resource that somebody follows changed. */
  readonly updated: (update: ResourceUpdate) => void;
  /** How a task goes, of whomever it is. */
  readonly taskNoticed: (notice: TaskNotice) => void;
}

export interface SupervisedView {
  readonly state: MemberState;
  readonly circuit: CircuitView;
  readonly pid?: number;
  readonly restarts: number;
  readonly lastError?: string;
  readonly stderrTail?: string;
  readonly serverInfo?: JsonObject;
  /** The revision spoken. */
  readonly era?: string;
  /** Agent sessions (agents) with one of their own; absent where one serves all. */
  readonly sessions?: number;
}

export interface Supervised {
  /** Rejects within `timeoutMs`, always, with the `fleet.*` codes; while the client is asked back the time stands still. */
  call(call: SupervisedCall): Promise<UpstreamReply>;
  /**
   * `notifications/resources/updated` about this resource is wanted for the session, on this connection and those that come after it, until
   * `unfollow` or `endSession`. Resolves with what the upstream said to that; an error answer changes nothing. Rejects as `call` does.
   */
  follow(party: Party, uri: string, options: FollowOptions): Promise<UpstreamReply>;
  unfollow(session: string, uri: string): void;
  /** The least severe log messages the session wants; `undefined` none. A connection for several is asked for what the most curious wants. */
  logLevel(party: Party, level: LogLevel | undefined): void;
  /** Tells what the session has of its own here; where a connection serves everybody nothing is told. */
  tell(party: Party, method: string, params?: JsonObject): void;
  /** Lists its tools now, past the circuit and without a say in it: health is measured, not decided. Starts it if that is allowed. */
  measure(timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Starts it if that is allowed now; failures are kept in the view. */
  wake(): Promise<void>;
  /** A person says that it is worth another try: nothing that was refused or failed counts any more. */
  forgive(): void;
  /** The agent session is over, and with it what it had of its own here. */
  endSession(session: string): void;
  view(): SupervisedView;
  /** How its login is; `undefined` where it has none. */
  login(): AuthHealth | undefined;
  stop(): Promise<void>;
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export function createSupervised(deps: SupervisedDeps): Supervised {
  const { name, clock, startTimeoutMs, sharing } = deps;
  /** The upstream was found to keep a session for each of its clients, over HTTP. */
  let perSession = false;
  /** Of the processes that several sessions of one agent share. */
  const soles = new Map<string, SoleHost>();
  const login = createMemberLogin({ open: deps.open, login: deps.login, main: () => main, own: () => own, wake, clock });
  const main = createMainSession({ ...deps, open: openMain });
  const following = createFollowing({ ...deps, upstream: name, ending: main.ending });
  const reopening = createReopening({ clock, wanted: listensOn, reopen });
  const bounds = { capacity: deps.maxSessions, idleStopMs: deps.idleStopMs };
  const own = createOwnSessions({
    ...deps,
    ending: main.ending,
    open: openOwn,
    send: sendOwn,
    joined: join,
    listensOn,
    left: (key) => reopening.lost(key),
    missing: () => login.missing(),
  });
  /** Of an upstream over HTTP that keeps state; they share the member's machine, as they share its server. */
  const sessions = createAgentSessions({
    ...bounds,
    upstream: name,
    clock,
    open: openForAgent,
    listensOn,
    left: (key) => reopening.lost(key),
  });
  const desk: Desk = {
    upstream: name,
    clock,
    member: () => main.member(),
    apply: (event) => main.apply(event),
    lastFailure: () => main.failure()?.message,
    missing: () => login.missing(),
    ended: () => main.ended(),
    send,
    failed: failedCall,
  };

  /** Whose connection a session uses where there is none for everybody. */
  function keyOf({ agent, session }: Pick<SupervisedCall, 'agent' | 'session'>): string {
    return sharing === 'agent' ? (agent ?? session) : session;
  }

  function circleOf(key: string): Circle {
    if (sharing === 'agent') return (party) => party.agent === key;
    return sharing === 'session' || perSession ? (party) => party.session === key : () => true;
  }

  function liveOf(party: Party): UpstreamConnection | undefined {
    if (sharing !== 'shared') return own.live(keyOf(party));
    return perSession ? sessions.live(party.session) : main.live();
  }

  function listensOn(key: string): boolean {
    return !main.ended() && following.followed(circleOf(key)).size > 0;
  }

  function join(key: string, connection: UpstreamConnection): Promise<void> {
    return following.join(connection, circleOf(key));
  }

  async function openMain(opening: Parameters<SupervisedDeps['open']>[0]): Promise<UpstreamConnection> {
    const { declares } = deps;
    const connection = await login.open(declares === undefined ? opening : { ...opening, declares });
    perSession = connection.perSession === true;
    // Nobody waits for it: the list comes first.
    if (sharing === 'shared' && !perSession) void following.join(connection, undefined);
    return connection;
  }

  function openOwn(key: string, opening: Parameters<SupervisedDeps['open']>[0]): Promise<UpstreamConnection> {
    if (sharing !== 'agent' || opening.host === undefined) return login.open(opening, key);
    const sole = createSoleHost(opening.host);
    soles.set(key, sole);
    return login.open({ ...opening, host: sole.host }, key);
  }

  async function openForAgent(key: string, host: UpstreamOpening['host']): Promise<UpstreamConnection> {
    try {
      const opening = { startTimeoutMs, signal: main.ending, listens: host !== undefined };
      const connection = await login.open(host === undefined ? opening : { ...opening, host }, key);
      await join(key, connection);
      return connection;
    } catch (thrown) {
      const error = named(name, asAppError(thrown));
      // Counted here, once, however many calls wait for this session.
      if (error.code === 'fleet.start_failed') main.apply({ kind: 'call_failed', at: clock.monotonic(), probe: false });
      throw error;
    }
  }

  /** What somebody follows is followed on whatever comes after a connection that was lost. */
  async function reopen(key: string): Promise<void> {
    const party = following.someone(circleOf(key));
    if (party === undefined) return;
    const timeoutMs = startTimeoutMs + pingTimeoutMs;
    await call({ ...party, method: 'ping', params: undefined, signal: main.ending, timeoutMs });
  }

  /** Open circuit on a living process: one that does not even answer a ping is ended, so that the probe meets a fresh one. */
  function examine(): void {
    const connection = main.live();
    if (connection === undefined || circuitOf(main.member(), clock.monotonic()).state !== 'open') return;
    connection.request('ping', undefined, { signal: main.ending, timeoutMs: pingTimeoutMs }).then(
      () => undefined,
      () => main.recycle(connection, `Upstream '${name}' was stopped: it answers neither calls nor pings.`),
    );
  }

  function patienceFor({ signal }: SupervisedCall, deadline: number): Patience {
    return { clock, deadline, signal, what: `Upstream '${name}' was not ready in time.` };
  }

  async function send(request: SupervisedCall, deadline: number): Promise<UpstreamReply> {
    const connection = main.current() ?? (await within(main.fresh(), patienceFor(request, deadline)));
    if (connection.perSession !== true) return ask(connection, request, deadline);
    login.borrow(request.session, request);
    return sessions.use(request.session, request.host, async (theirs) =>
      ask(theirs instanceof Promise ? await within(theirs, patienceFor(request, deadline)) : theirs, request, deadline),
    );
  }

  async function sendOwn(
    theirs: UpstreamConnection | Promise<UpstreamConnection>,
    request: SupervisedCall,
    deadline: number,
  ): Promise<UpstreamReply> {
    const patience = patienceFor(request, deadline);
    // The list is the main session's; where that is down, what is accepted stands.
    if (main.live() !== undefined && main.current() === undefined)
      await within(
        main.fresh().catch(() => undefined),
        patience,
      );
    const connection = theirs instanceof Promise ? await within(theirs, patience) : theirs;
    if (request.host !== undefined) soles.get(keyOf(request))?.met(request.host);
    return ask(connection, request, deadline);
  }

  function ask(connection: UpstreamConnection, request: SupervisedCall, deadline: number): Promise<UpstreamReply> {
    if (deps.login === undefined) return put(connection, request, deadline, undefined);
    const patience = (): Patience => patienceFor(request, deadline);
    return login.ask(request, patience, (lines) => put(connection, request, deadline, lines));
  }

  function put(
    connection: UpstreamConnection,
    request: SupervisedCall,
    deadline: number,
    lines: readonly string[] | undefined,
  ): Promise<UpstreamReply> {
    const { method, params, signal, onProgress, subject, host, follows } = request;
    request.verify?.();
    const client = request.client ?? (following.any() ? clientOf(request, connection) : undefined);
    const options = {
      signal,
      timeoutMs: Math.max(1, deadline - clock.monotonic()),
      ...(onProgress === undefined ? {} : { onProgress }),
      ...(subject === undefined ? {} : { subject }),
      ...(client === undefined ? {} : { client }),
      ...(host === undefined ? {} : { host }),
      ...(lines === undefined ? {} : { login: lines }),
    };
    return follows === undefined ? connection.request(method, params, options) : connection.subscribe(follows, options);
  }

  /** Of a caller of 2025, which said once what it wants to hear, for an upstream that wants to hear that each time. */
  function clientOf({ session, host }: SupervisedCall, { protocolVersion }: UpstreamConnection): UpstreamClient | undefined {
    const logLevel = protocolVersion === levelInRequests ? following.levelOf(session) : undefined;
    return logLevel === undefined ? undefined : { capabilities: host?.capabilities ?? {}, info: host?.info, logLevel };
  }

  function failedCall(error: AppError, probe: boolean, last: boolean): void {
    const { code, data } = error;
    const live = main.live();
    const deaf = code === 'process.closed' || code === 'fleet.unreachable';
    // One that lost a session and then the next one as well does not serve.
    const lost = code === 'fleet.session_lost' && last;
    // A dead connection is one failure, however many calls find out.
    if (lost || counts(error) || (deaf && live !== undefined)) {
      main.apply({ kind: 'call_failed', at: clock.monotonic(), probe });
      if (deaf && live !== undefined)
        main.recycle(
          live,
          code === 'process.closed' ? `Upstream '${name}' was stopped: it no longer reads its input.` : error.message,
        );
      else examine();
    } else if (code === 'fleet.auth_broken' && data?.['status'] === 401) main.park(error);
    else if (!(code.startsWith('auth.') && login.parks(error)) && probe) main.apply({ kind: 'probe_released' });
    // A forgotten session mostly means a new program behind the same address.
    if (code === 'fleet.session_lost' && live !== undefined) main.relist();
  }

  function call(request: SupervisedCall): Promise<UpstreamReply> {
    if (sharing === 'shared') return admitted(desk, request);
    const key = keyOf(request);
    login.borrow(key, request);
    return admitted(own.desk(key, request.agent), request);
  }

  /** A start lists as well; a session that was there is asked anew. */
  async function look(timeoutMs: number): Promise<void> {
    const connection = main.live();
    if (connection !== undefined) {
      try {
        await deps.list(connection, timeoutMs);
        return;
      } catch (thrown) {
        const error = asAppError(thrown);
        if (!login.parks(error) && error.code === 'fleet.auth_broken') main.park(error);
        if (error.code === 'fleet.unreachable') main.recycle(connection, named(name, error).message);
        if (error.code !== 'fleet.session_lost') throw error;
        main.lose(connection, error.message);
      }
    }
    await main.start();
  }

  async function wake(): Promise<void> {
    if (main.ended() || main.live() !== undefined || !mayStart(main.member(), clock.monotonic())) return;
    const locked = login.locked();
    if (locked !== undefined) main.note(locked);
    else await main.start().catch(() => undefined);
  }

  return {
    call,
    async follow(party, uri, { signal, timeoutMs }) {
      // Somebody follows it on this very connection: the upstream agreed already, and is asked once.
      if (liveOf(party) !== undefined && following.followed(circleOf(keyOf(party))).has(uri)) {
        following.follow(party, uri);
        return { kind: 'result', json: '{}', value: {} };
      }
      const params = JSON.stringify({ uri });
      const reply = await call({ ...party, method: 'resources/subscribe', params, follows: uri, signal, timeoutMs });
      if (reply.kind === 'result' && !signal.aborted) following.follow(party, uri);
      return reply;
    },
    unfollow(session, uri) {
      const party = following.party(session);
      if (party !== undefined) following.unfollow(session, uri, liveOf(party), circleOf(keyOf(party)));
    },
    logLevel: (party, level) => following.logLevel(party, level, liveOf(party), circleOf(keyOf(party))),
    tell(party, method, params) {
      if (sharing !== 'shared' || perSession) liveOf(party)?.notify(method, params);
    },
    async measure(timeoutMs, signal) {
      const now = clock.monotonic();
      const { phase } = main.member();
      if (phase === 'login_needed') throw loginNeeded(name, main.failure()?.message);
      if (phase === 'waiting_for_secrets') throw waitingForSecrets(name, login.missing());
      const locked = main.live() === undefined ? login.locked() : undefined;
      if (locked !== undefined) throw locked;
      if (main.live() === undefined && !main.starting() && !mayStart(main.member(), now))
        throw down(name, main.member().retryAllowedAt - now, main.failure()?.message);
      // The gate contract's own sentence.
      const what = `health probe of upstream '${name}' timed out after ${timeoutMs} ms`;
      await within(look(timeoutMs), { clock, deadline: now + timeoutMs, signal, what }).catch((thrown: unknown) => {
        const error = named(name, asAppError(thrown));
        throw error.code === 'fleet.timeout' ? new AppError('unavailable', 'fleet.timeout', what, { cause: error }) : error;
      });
    },
    wake,
    forgive() {
      own.forgive();
      if (main.live() === undefined && !main.starting()) main.apply({ kind: 'stopped' });
    },
    endSession(session) {
      const party = following.party(session);
      if (party !== undefined) following.end(session, liveOf(party), circleOf(keyOf(party)));
      sessions.end(session);
      login.forget(session);
      if (sharing === 'session') own.end(session);
    },
    view: () => ({ ...viewOf(main, clock.monotonic(), own.lastFailure()), ...countOf() }),
    login: () => login.health(),
    async stop() {
      reopening.stop();
      await Promise.all([main.stop(), own.close(), sessions.close()]);
      login.close();
    },
  };

  function countOf(): Pick<SupervisedView, 'sessions'> {
    if (sharing !== 'shared') return { sessions: own.count() };
    return main.live()?.perSession === true ? { sessions: sessions.count() } : {};
  }
}

function viewOf(main: MainSession, now: number, ownFailure: string | undefined): SupervisedView {
  const [live, failure, member] = [main.live(), main.failure(), main.member()];
  const lastError = failure?.message ?? ownFailure;
  return {
    state: member.phase,
    circuit: circuitOf(member, now),
    restarts: Math.max(0, member.starts - 1),
    ...(live === undefined ? {} : { era: live.protocolVersion, serverInfo: live.serverInfo }),
    ...(live?.pid === undefined ? {} : { pid: live.pid }),
    ...(lastError === undefined ? {} : { lastError }),
    ...(failure?.stderrTail === undefined ? {} : { stderrTail: failure.stderrTail }),
  };
}
