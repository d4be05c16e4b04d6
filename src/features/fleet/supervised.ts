// Drives one member: starts it once for all who wait, sees its end by the exit event, and lets calls through as the state machine says.
// Knows sessions and instants; which tools there are is the business of `list`.
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { ChildSpec, Clock, Entropy, Log, UpstreamConnection, UpstreamConnector, UpstreamReply } from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import { admit, circuitOf, mayStart, newMember, next, type Member, type MemberEvent } from './member.ts';
import type { CircuitView, MemberState } from './model.ts';
import { circuitOpen, down, named, startTimedOut } from './refusals.ts';
import { createRelisting } from './relisting.ts';
import { within } from './within.ts';

const stopGraceMs = 2_000;
const relistTimeoutMs = 30_000;
const pingTimeoutMs = 5_000;

export interface SupervisedDeps {
  readonly name: string;
  /** Of the accepted spec, for the record. */
  readonly specDigest: string;
  readonly child: ChildSpec;
  readonly startTimeoutMs: number;
  readonly connector: UpstreamConnector;
  readonly audit: Pick<Audit, 'append' | 'appendQuietly'>;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  /** Reads the tools of a fresh session, or again after they changed. What it throws fails the start, or ends the session. */
  readonly list: (connection: UpstreamConnection, timeoutMs: number) => Promise<void>;
  /** Takes values out of what the upstream wrote to stderr. */
  readonly mask: (text: string) => string;
}

export interface SupervisedCall {
  readonly method: string;
  readonly params: string | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly onProgress?: ((note: JsonObject) => void) | undefined;
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
}

export interface Supervised {
  /** Rejects within `timeoutMs`, always, with the `fleet.*` codes. */
  call(call: SupervisedCall): Promise<UpstreamReply>;
  /** Lists its tools now, past the circuit and without a say in it: health is measured, not decided. Starts it if that is allowed. */
  measure(timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Starts it if that is allowed now; failures are kept in the view. */
  wake(): Promise<void>;
  view(): SupervisedView;
  stop(): Promise<void>;
}

export function createSupervised(deps: SupervisedDeps): Supervised {
  const { name, connector, audit, clock, entropy, log } = deps;
  let member: Member = newMember;
  let live: UpstreamConnection | undefined;
  let starting: Promise<UpstreamConnection> | undefined;
  let leaving: Promise<void> = Promise.resolve();
  let failure: { readonly message: string; readonly stderrTail?: string } | undefined;
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
      connection = await connector.open(deps.child, { startTimeoutMs: deps.startTimeoutMs, signal: ending.signal });
      stale = false;
      const opened = connection;
      opened.onNotification((method) => {
        if (method !== 'notifications/tools/list_changed') return;
        if (live === opened) relisting.request();
        else stale = true;
      });
      const left = deps.startTimeoutMs - (clock.monotonic() - startedAt);
      await deps.list(connection, Math.max(1, left)).catch((error: unknown) => {
        throw asAppError(error).code === 'fleet.timeout' ? startTimedOut(name, deps.startTimeoutMs) : error;
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
    const ours = ended || error.code.startsWith('audit.');
    apply(ours ? { kind: 'start_abandoned' } : { kind: 'start_failed', at: clock.monotonic(), jitter: jitter() });
    const tail = error.data?.['stderr_tail'];
    const stderrTail = typeof tail === 'string' ? deps.mask(tail) : '';
    failure = { message: error.message, ...(stderrTail === '' ? {} : { stderrTail }) };
    if (!ended)
      log.warn('an upstream did not start', {
        upstream: name,
        reason: error.message,
        ...(stderrTail === '' ? {} : { stderr: stderrTail }),
      });
    return new AppError(error.kind, error.code, error.message, {
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      ...(ours ? {} : { retryAfterMs: Math.max(0, member.retryAllowedAt - clock.monotonic()) }),
      data: { ...error.data, sent: false, ...(stderrTail === '' ? {} : { stderr_tail: stderrTail }) },
      cause: error,
    });
  }

  function adopt(connection: UpstreamConnection): void {
    live = connection;
    failure = undefined;
    apply({ kind: 'start_succeeded', at: clock.monotonic() });
    log.info('an upstream is ready', { upstream: name, pid: connection.pid });
    if (stale) relisting.request();
    void connection.closed.then(({ code, signal, stderrTail }) => {
      if (live !== connection) return;
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

  /** Ends a session that cannot be trusted to serve; the next call or the next round starts another. */
  function recycle(connection: UpstreamConnection, why: string): void {
    if (live !== connection) return;
    live = undefined;
    failure = { message: `Upstream '${name}' was stopped: ${why}.` };
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
      apply({ kind: 'call_failed', at: clock.monotonic(), probe: false });
      recycle(connection, `it changed its tools and then did not list them (${error.message})`);
    }
  }

  /** Open circuit on a living process: one that does not even answer a ping is ended, so that the probe meets a fresh one. */
  function examine(): void {
    const connection = live;
    if (connection === undefined || circuitOf(member, clock.monotonic()).state !== 'open') return;
    connection.request('ping', undefined, { signal: ending.signal, timeoutMs: pingTimeoutMs }).then(
      () => undefined,
      () => recycle(connection, 'it answers neither calls nor pings'),
    );
  }

  async function send(call: SupervisedCall, deadline: number): Promise<UpstreamReply> {
    let connection = live;
    if (connection === undefined || relisting.settled() !== undefined) {
      connection = await within(fresh(), {
        clock,
        deadline,
        signal: call.signal,
        what: `Upstream '${name}' was not ready in time.`,
      });
    }
    call.verify?.();
    return connection.request(call.method, call.params, {
      signal: call.signal,
      timeoutMs: Math.max(1, deadline - clock.monotonic()),
      ...(call.onProgress === undefined ? {} : { onProgress: call.onProgress }),
    });
  }

  async function fresh(): Promise<UpstreamConnection> {
    const connection = live ?? (await start());
    await relisting.settled();
    return live ?? connection;
  }

  function failedCall(error: AppError, probe: boolean): void {
    const deaf = error.code === 'process.closed';
    const counts = (error.code === 'fleet.timeout' || error.code === 'fleet.protocol') && error.data?.['sent'] !== false;
    if (counts || deaf) {
      apply({ kind: 'call_failed', at: clock.monotonic(), probe });
      if (deaf && live !== undefined) recycle(live, 'it no longer reads its input');
      else examine();
    } else if (probe) apply({ kind: 'probe_released' });
  }

  async function call(request: SupervisedCall): Promise<UpstreamReply> {
    const deadline = clock.monotonic() + request.timeoutMs;
    for (let again = true; ; again = false) {
      const admission = admit(member, clock.monotonic());
      if (admission.kind === 'refuse') throw refusal(admission.why, admission.retryAfterMs);
      if (admission.probe) apply({ kind: 'probe_taken' });
      try {
        const reply = await send(request, deadline);
        if (member.failures > 0 || admission.probe) apply({ kind: 'call_succeeded' });
        return reply;
      } catch (thrown) {
        const error = named(name, asAppError(thrown));
        failedCall(error, admission.probe);
        // The session ended just before the call was written: certain that nothing was sent, so one fresh try is no repetition.
        if (again && !ended && error.code === 'fleet.exited' && error.data?.['sent'] === false) continue;
        throw error;
      }
    }
  }

  function refusal(why: 'circuit' | 'backoff', retryAfterMs: number): AppError {
    return why === 'circuit' ? circuitOpen(name, retryAfterMs, failure?.message) : down(name, retryAfterMs, failure?.message);
  }

  return {
    call,
    async measure(timeoutMs, signal) {
      const now = clock.monotonic();
      if (live === undefined && starting === undefined && !mayStart(member, now))
        throw down(name, member.retryAllowedAt - now, failure?.message);
      const look = async (): Promise<void> => {
        // A start lists as well; a session that was there is asked anew.
        if (live === undefined) await start();
        else await deps.list(live, timeoutMs);
      };
      // The gate contract's own sentence.
      const what = `health probe of upstream '${name}' timed out after ${timeoutMs} ms`;
      await within(look(), { clock, deadline: now + timeoutMs, signal, what }).catch((thrown: unknown) => {
        const error = named(name, asAppError(thrown));
        throw error.code === 'fleet.timeout' ? new AppError('unavailable', 'fleet.timeout', what, { cause: error }) : error;
      });
    },
    async wake() {
      if (ended || live !== undefined || !mayStart(member, clock.monotonic())) return;
      await start().catch(() => undefined);
    },
    view: () => ({
      state: member.phase,
      circuit: circuitOf(member, clock.monotonic()),
      restarts: Math.max(0, member.starts - 1),
      ...(live === undefined ? {} : { pid: live.pid, serverInfo: live.serverInfo }),
      ...(failure === undefined
        ? {}
        : { lastError: failure.message, ...(failure.stderrTail === undefined ? {} : { stderrTail: failure.stderrTail }) }),
    }),
    async stop() {
      ended = true;
      ending.abort();
      const connection = live;
      live = undefined;
      await Promise.all([starting?.catch(() => undefined), connection?.close(stopGraceMs), leaving]);
      apply({ kind: 'stopped' });
    },
  };
}
