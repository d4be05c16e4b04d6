// The session of a member that is for the list and for everybody: started once for all who wait, listed, watched, and ended for whatever
// reason; each step moves the state machine and is on the record. Knows no call and no transport.
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { Clock, Entropy, Log, UpstreamConnection, UpstreamOpening } from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import { circuitOf, newMember, next, type Member, type MemberEvent } from './member.ts';
import { named, startTimedOut } from './refusals.ts';
import { createRelisting } from './relisting.ts';
import { endings, reasonOf } from './start-reasons.ts';

const stopGraceMs = 2_000;
const relistTimeoutMs = 30_000;

export interface MainSessionDeps {
  readonly name: string;
  /** Of the accepted spec, for the record. */
  readonly specDigest: string;
  /** Begins a session with the upstream, over whatever it is reached by. */
  readonly open: (opening: UpstreamOpening & { readonly listens: boolean }) => Promise<UpstreamConnection>;
  readonly startTimeoutMs: number;
  readonly audit: Pick<Audit, 'append' | 'appendQuietly'>;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  /** Reads the tools of a fresh session, or again after they changed. What it throws fails the start, or ends the session. */
  readonly list: (connection: UpstreamConnection, timeoutMs: number) => Promise<void>;
  /** Takes values out of what the upstream wrote to stderr. */
  readonly mask: (text: string) => string;
}

/** Why it is not there, for people. */
export interface LastFailure {
  readonly message: string;
  readonly stderrTail?: string;
}

export interface MainSession {
  member(): Member;
  /** Moves the state machine; a change of the circuit is recorded. */
  apply(event: MemberEvent): void;
  live(): UpstreamConnection | undefined;
  /** The same when its list is known to be the latest. */
  current(): UpstreamConnection | undefined;
  starting(): boolean;
  ended(): boolean;
  /** Aborts when the member is stopped. */
  readonly ending: AbortSignal;
  failure(): LastFailure | undefined;
  /** One start for all who ask. Rejects with the `fleet.*` code of the failure, or with that of the record. */
  start(): Promise<UpstreamConnection>;
  /** With a list that is the latest, started when it has to be. */
  fresh(): Promise<UpstreamConnection>;
  /** The list may be stale from now on. */
  relist(): void;
  lose(connection: UpstreamConnection, why: string): void;
  park(error: AppError): void;
  /** What it is logged in with is gone from the vault: ends the session and waits for it. */
  awaitSecrets(error: AppError): void;
  /** Why it is not even tried. */
  note(error: AppError): void;
  /** Lets a session go whose calls may end on it; whoever calls next begins another. */
  replace(gone: { readonly busy: boolean; readonly gone: Promise<void> }): void;
  /** Ends a session that does not serve; `why` is a sentence. */
  recycle(connection: UpstreamConnection, why: string): void;
  stop(): Promise<void>;
}

export function createMainSession(deps: MainSessionDeps): MainSession {
  const { name, audit, clock, entropy, log, startTimeoutMs } = deps;
  let member: Member = newMember;
  let live: UpstreamConnection | undefined;
  let starting: Promise<UpstreamConnection> | undefined;
  let leaving: Promise<void> = Promise.resolve();
  /** Of sessions whose last calls are not over. */
  const retiring = new Set<Promise<void>>();
  let failure: LastFailure | undefined;
  /** The tools changed while they were being listed for the first time. */
  let stale = false;
  let ended = false;
  const ending = new AbortController();
  const relisting = createRelisting(relist, clock);

  const jitter = (): number => (entropy.bytes(1)[0] ?? 0) / 256;

  function apply(event: MemberEvent): void {
    const before = circuitOf(member, clock.monotonic()).state;
    member = next(member, event);
    const { state, failures } = circuitOf(member, clock.monotonic());
    if (state === before || state === 'half_open') return;
    audit.appendQuietly({ event: 'upstream.circuit', actor: 'daemon', facts: { upstream: name, state, failures } });
  }

  function start(): Promise<UpstreamConnection> {
    starting ??= begin().finally(() => {
      starting = undefined;
    });
    return starting;
  }

  async function begin(): Promise<UpstreamConnection> {
    apply({ kind: 'start_begun' });
    let connection: UpstreamConnection | undefined;
    try {
      await leaving;
      ending.signal.throwIfAborted();
      const startedAt = clock.monotonic();
      // No record, no process (DESIGN invariant 6).
      audit.append({
        event: 'upstream.started',
        actor: 'daemon',
        facts: { upstream: name, spec: deps.specDigest, start: member.starts },
      });
      connection = await deps.open({ startTimeoutMs, signal: ending.signal, listens: true });
      stale = false;
      const opened = connection;
      opened.onNotification((method) => {
        if (method !== 'notifications/tools/list_changed') return;
        if (live === opened) relisting.request();
        else stale = true;
      });
      const left = startTimeoutMs - (clock.monotonic() - startedAt);
      await deps.list(connection, Math.max(1, left)).catch((error: unknown) => {
        throw asAppError(error).code === 'fleet.timeout' ? startTimedOut(name, startTimeoutMs) : error;
      });
      ending.signal.throwIfAborted();
    } catch (thrown) {
      await connection?.close(stopGraceMs);
      throw startFailed(named(name, asAppError(thrown)));
    }
    adopt(connection);
    return connection;
  }

  function startFailed(error: AppError): AppError {
    const why = ended ? 'ours' : reasonOf(error);
    const timed = why === 'upstream';
    apply(timed ? { kind: 'start_failed', at: clock.monotonic(), jitter: jitter() } : endings[why]);
    const tail = error.data?.['stderr_tail'];
    const stderrTail = typeof tail === 'string' ? deps.mask(tail) : '';
    failure = { message: withAdvice(error), ...(stderrTail === '' ? {} : { stderrTail }) };
    if (!ended)
      log.warn('an upstream did not start', {
        upstream: name,
        reason: error.message,
        ...(stderrTail === '' ? {} : { stderr: stderrTail }),
      });
    return new AppError(error.kind, error.code, error.message, {
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      ...(timed ? { retryAfterMs: Math.max(0, member.retryAllowedAt - clock.monotonic()) } : {}),
      data: { ...error.data, sent: false, ...(stderrTail === '' ? {} : { stderr_tail: stderrTail }) },
      cause: error,
    });
  }

  function adopt(connection: UpstreamConnection): void {
    live = connection;
    failure = undefined;
    apply({ kind: 'start_succeeded', at: clock.monotonic() });
    log.info('an upstream is ready', {
      upstream: name,
      era: connection.protocolVersion,
      ...(connection.pid === undefined ? {} : { pid: connection.pid }),
    });
    if (stale) relisting.request();
    void connection.closed.then(({ code, signal, stderrTail, lost }) => {
      if (live !== connection) return;
      if (lost !== undefined) {
        lose(connection, lost);
        return;
      }
      live = undefined;
      const masked = deps.mask(stderrTail);
      failure = {
        message: `Upstream '${name}' ${signal === null ? `exited with code ${code}` : `was ended by ${signal}`}.`,
        stderrTail: masked,
      };
      apply({ kind: 'exited', at: clock.monotonic(), jitter: jitter() });
      audit.appendQuietly({ event: 'upstream.exited', actor: 'daemon', facts: { upstream: name, code, signal } });
      log.warn('an upstream exited by itself', { upstream: name, code, signal, stderr: masked });
    });
  }

  /** The upstream forgot the session: whoever calls next begins another, and lists anew, for it may be another program by now. */
  function lose(connection: UpstreamConnection, why: string): void {
    if (live !== connection) return;
    live = undefined;
    apply({ kind: 'session_lost' });
    log.info('an upstream no longer knows its session', { upstream: name, reason: why });
    const facts = { upstream: name, code: null, signal: null, lost: true };
    audit.appendQuietly({ event: 'upstream.exited', actor: 'daemon', facts });
  }

  function park(error: AppError): void {
    if (member.phase === 'login_needed') return;
    const connection = live;
    live = undefined;
    failure = { message: withAdvice(error) };
    apply({ kind: 'login_refused' });
    log.warn('an upstream is left alone until a human has seen to its login', { upstream: name, reason: error.message });
    if (connection !== undefined) leaving = connection.close(stopGraceMs);
  }

  function awaitSecrets(error: AppError): void {
    if (member.phase === 'waiting_for_secrets') return;
    const connection = live;
    live = undefined;
    failure = { message: error.message };
    apply({ kind: 'secret_missing' });
    log.warn('an upstream waits for its secrets', { upstream: name, reason: error.message });
    if (connection !== undefined) leaving = connection.close(stopGraceMs);
  }

  function replace({ busy, gone }: { readonly busy: boolean; readonly gone: Promise<void> }): void {
    live = undefined;
    apply({ kind: 'session_lost' });
    const facts = { upstream: name, code: null, signal: null, recycled: true };
    audit.appendQuietly({ event: 'upstream.exited', actor: 'daemon', facts });
    log.info('an upstream is started anew with what it is logged in with now', { upstream: name });
    if (!busy) leaving = gone;
    retiring.add(gone);
    void gone.finally(() => retiring.delete(gone));
  }

  /** Ends a session that cannot be trusted to serve; the next call or the next round starts another. */
  function recycle(connection: UpstreamConnection, why: string): void {
    if (live !== connection) return;
    live = undefined;
    failure = { message: why };
    apply({ kind: 'recycled', at: clock.monotonic(), jitter: jitter() });
    log.warn('an upstream is stopped to be started anew', { upstream: name, reason: why });
    audit.appendQuietly({
      event: 'upstream.exited',
      actor: 'daemon',
      facts: { upstream: name, code: null, signal: null, recycled: true },
    });
    leaving = connection.close(stopGraceMs);
  }

  async function relist(): Promise<void> {
    const connection = live;
    if (connection === undefined) return;
    try {
      await deps.list(connection, relistTimeoutMs);
    } catch (thrown) {
      const error = asAppError(thrown);
      if (live !== connection) return;
      if (error.code === 'fleet.session_lost') {
        lose(connection, error.message);
        return;
      }
      const why = reasonOf(error);
      if (why === 'login' || why === 'secrets') {
        (why === 'login' ? park : awaitSecrets)(error);
        return;
      }
      apply({ kind: 'call_failed', at: clock.monotonic(), probe: false });
      recycle(connection, `Upstream '${name}' was stopped: it changed its tools and then did not list them (${error.message}).`);
    }
  }

  async function fresh(): Promise<UpstreamConnection> {
    const connection = live ?? (await start());
    await relisting.settled();
    // The list could not be had because the session is lost: a start brings both.
    return live ?? (member.phase === 'stopped' && !ended ? start() : connection);
  }

  return {
    member: () => member,
    apply,
    live: () => live,
    current: () => (relisting.settled() === undefined ? live : undefined),
    starting: () => starting !== undefined,
    ended: () => ended,
    ending: ending.signal,
    failure: () => failure,
    start,
    fresh,
    relist: () => relisting.request(),
    lose,
    awaitSecrets,
    note: ({ message }) => {
      failure = { message };
    },
    replace,
    park,
    recycle,
    async stop() {
      ended = true;
      ending.abort();
      const connection = live;
      live = undefined;
      await Promise.all([starting?.catch(() => undefined), connection?.close(stopGraceMs), leaving, ...retiring]);
      apply({ kind: 'stopped' });
    },
  };
}

/** A provider that refused says what a person does about it; whoever asks why the upstream is left alone is told that as well. */
function withAdvice({ code, message, hint }: AppError): string {
  return code === 'auth.refused' && hint !== undefined ? `${message} ${hint}` : message;
}
