// Lets the calls of one member through as its state machine says, and tells it how they ended. Where the upstream keeps state for each of
// its clients, agent sessions have upstream sessions of their own beside the one for everybody. Knows instants and no transport.
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { UpstreamClient, UpstreamConnection, UpstreamReply, UpstreamSubject } from '../../kernel/ports.ts';
import { createAgentSessions } from './agent-sessions.ts';
import { createMainSession, type MainSessionDeps } from './main-session.ts';
import { admit, circuitOf, mayStart, type Admission } from './member.ts';
import type { CircuitView, MemberState } from './model.ts';
import { circuitOpen, down, loginNeeded, named } from './refusals.ts';
import { within } from './within.ts';

const pingTimeoutMs = 5_000;
/** What says that an upstream does not work, once something was sent. */
const failures: ReadonlySet<string> = new Set(['fleet.timeout', 'fleet.protocol', 'fleet.failed']);
/** With these it is certain that nothing was done, so one fresh try is no repetition. */
const unsent: ReadonlySet<string> = new Set(['fleet.exited', 'fleet.session_lost']);

export interface SupervisedDeps extends MainSessionDeps {
  /** How many agent sessions may have an upstream session of their own. */
  readonly maxSessions: number;
}

export interface SupervisedCall {
  /** The agent session on whose behalf. */
  readonly session: string;
  readonly method: string;
  readonly params: string | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly onProgress?: ((note: JsonObject) => void) | undefined;
  readonly subject?: UpstreamSubject | undefined;
  readonly client?: UpstreamClient | undefined;
  /** Asked when the session is ready and its list is fresh, before anything is sent; what it throws is the answer. */
  readonly verify?: () => void;
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
  /** Agent sessions with one of their own; absent where one serves all. */
  readonly sessions?: number;
}

export interface Supervised {
  /** Rejects within `timeoutMs`, always, with the `fleet.*` codes. */
  call(call: SupervisedCall): Promise<UpstreamReply>;
  /** Lists its tools now, past the circuit and without a say in it: health is measured, not decided. Starts it if that is allowed. */
  measure(timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Starts it if that is allowed now; failures are kept in the view. */
  wake(): Promise<void>;
  /** A person says that it is worth another try: nothing that was refused or failed counts any more. */
  forgive(): void;
  /** The agent session is over, and with it what it had of its own here. */
  endSession(session: string): void;
  view(): SupervisedView;
  stop(): Promise<void>;
}

export function createSupervised(deps: SupervisedDeps): Supervised {
  const { name, clock, startTimeoutMs } = deps;
  const main = createMainSession(deps);
  const sessions = createAgentSessions({
    upstream: name,
    clock,
    capacity: deps.maxSessions,
    open: openForAgent,
  });

  async function openForAgent(): Promise<UpstreamConnection> {
    try {
      return await deps.open({ startTimeoutMs, signal: main.ending, listens: false });
    } catch (thrown) {
      const error = named(name, asAppError(thrown));
      // Counted here, once, however many calls wait for this session.
      if (error.code === 'fleet.start_failed') main.apply({ kind: 'call_failed', at: clock.monotonic(), probe: false });
      throw error;
    }
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

  async function send(call: SupervisedCall, deadline: number): Promise<UpstreamReply> {
    const patience = { clock, deadline, signal: call.signal, what: `Upstream '${name}' was not ready in time.` };
    const connection = main.current() ?? (await within(main.fresh(), patience));
    if (connection.perSession !== true) return ask(connection, call, deadline);
    return sessions.use(call.session, async (own) =>
      ask(own instanceof Promise ? await within(own, patience) : own, call, deadline),
    );
  }

  function ask(connection: UpstreamConnection, call: SupervisedCall, deadline: number): Promise<UpstreamReply> {
    const { method, params, signal, onProgress, subject, client } = call;
    call.verify?.();
    return connection.request(method, params, {
      signal,
      timeoutMs: Math.max(1, deadline - clock.monotonic()),
      ...(onProgress === undefined ? {} : { onProgress }),
      ...(subject === undefined ? {} : { subject }),
      ...(client === undefined ? {} : { client }),
    });
  }

  function failedCall(error: AppError, probe: boolean, last: boolean): void {
    const { code, data } = error;
    const live = main.live();
    const deaf = code === 'process.closed' || code === 'fleet.unreachable';
    // One that lost a session and then the next one as well does not serve.
    const lost = code === 'fleet.session_lost' && last;
    const counts = lost || (failures.has(code) && data?.['sent'] !== false);
    // A dead connection is one failure, however many calls find out.
    if (counts || (deaf && live !== undefined)) {
      main.apply({ kind: 'call_failed', at: clock.monotonic(), probe });
      if (deaf && live !== undefined)
        main.recycle(
          live,
          code === 'process.closed' ? `Upstream '${name}' was stopped: it no longer reads its input.` : error.message,
        );
      else examine();
    } else if (code === 'fleet.auth_broken' && data?.['status'] === 401) main.park(error);
    else if (probe) main.apply({ kind: 'probe_released' });
    // A forgotten session mostly means a new program behind the same address.
    if (code === 'fleet.session_lost' && live !== undefined) main.relist();
  }

  async function call(request: SupervisedCall): Promise<UpstreamReply> {
    const deadline = clock.monotonic() + request.timeoutMs;
    for (let again = true; ; again = false) {
      const admission = admit(main.member(), clock.monotonic());
      if (admission.kind === 'refuse') throw refusal(admission);
      if (admission.probe) main.apply({ kind: 'probe_taken' });
      try {
        const reply = await send(request, deadline);
        if (main.member().failures > 0 || admission.probe) main.apply({ kind: 'call_succeeded' });
        return reply;
      } catch (thrown) {
        const error = named(name, asAppError(thrown));
        failedCall(error, admission.probe, !again);
        if (again && !main.ended() && unsent.has(error.code) && error.data?.['sent'] === false) continue;
        throw error;
      }
    }
  }

  function refusal(refused: Extract<Admission, { kind: 'refuse' }>): AppError {
    if (refused.why === 'login') return loginNeeded(name, main.failure()?.message);
    return (refused.why === 'circuit' ? circuitOpen : down)(name, refused.retryAfterMs, main.failure()?.message);
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
        if (error.code === 'fleet.auth_broken') main.park(error);
        if (error.code === 'fleet.unreachable') main.recycle(connection, named(name, error).message);
        if (error.code !== 'fleet.session_lost') throw error;
        main.lose(connection, error.message);
      }
    }
    await main.start();
  }

  return {
    call,
    async measure(timeoutMs, signal) {
      const now = clock.monotonic();
      if (main.member().phase === 'login_needed') throw loginNeeded(name, main.failure()?.message);
      if (main.live() === undefined && !main.starting() && !mayStart(main.member(), now))
        throw down(name, main.member().retryAllowedAt - now, main.failure()?.message);
      // The gate contract's own sentence.
      const what = `health probe of upstream '${name}' timed out after ${timeoutMs} ms`;
      await within(look(timeoutMs), { clock, deadline: now + timeoutMs, signal, what }).catch((thrown: unknown) => {
        const error = named(name, asAppError(thrown));
        throw error.code === 'fleet.timeout' ? new AppError('unavailable', 'fleet.timeout', what, { cause: error }) : error;
      });
    },
    async wake() {
      if (main.ended() || main.live() !== undefined || !mayStart(main.member(), clock.monotonic())) return;
      await main.start().catch(() => undefined);
    },
    forgive() {
      if (main.live() === undefined && !main.starting()) main.apply({ kind: 'stopped' });
    },
    endSession: (session) => sessions.end(session),
    view() {
      const [live, failure, member] = [main.live(), main.failure(), main.member()];
      return {
        state: member.phase,
        circuit: circuitOf(member, clock.monotonic()),
        restarts: Math.max(0, member.starts - 1),
        ...(live === undefined ? {} : { era: live.protocolVersion, serverInfo: live.serverInfo }),
        ...(live?.pid === undefined ? {} : { pid: live.pid }),
        ...(live?.perSession === true ? { sessions: sessions.count() } : {}),
        ...(failure === undefined ? {} : { lastError: failure.message }),
        ...(failure?.stderrTail === undefined ? {} : { stderrTail: failure.stderrTail }),
      };
    },
    async stop() {
      await Promise.all([main.stop(), sessions.close()]);
    },
  };
}
